"""The gateway to chat models. It answers a prompt with a value that fits the prompt's schema, or raises an error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from factloop.core.errors import AskedNoFurther, ModelOutputError, ModelRefusal
from factloop.prompts.registry import Prompt, RenderedPrompt
from factloop.tools.calls.answers import AnsweredBy, Answers, Value
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.tracing import as_messages, as_reply, span
from factloop.tools.models.abilities import Abilities
from factloop.tools.models.asking import ModelCall, read_reply, request_key
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.parsing import parse_reply, validate
from factloop.tools.models.schema import Offers, ToolChoice, is_blank
from factloop.tools.models.traced import request_values
from factloop.tools.models.transport import Request, Transport
from factloop.tools.models.wire import Mode, Reply, ReplyToken, ToolCall

T = TypeVar("T", bound=BaseModel)
A = TypeVar("A")
Accept = Callable[[Any], None]
ReadText = Callable[[str], T | None]
"""Extracts an answer from a reply that does not follow the schema, or returns None."""

BY = {"call": "model", "cache": "cache", "identical_call": "identical_call"}

REPAIRS = 2
"""Maximum number of repairs per answer. If the reply is still malformed after that, the call fails."""
NOT_THE_FIRST = "The reply before it could not be used either."
LONGEST_REFUSAL = 300
_DECLINES = re.compile(
    r"(?:i['’]?m|i am) (?:very |so |really )?(?:sorry|afraid)\b|(?:sorry|apologies|unfortunately),? (?:but )?i\b"
    r"|i (?:can['’]?t|cannot|can not|won['’]?t|will not|am not able to|['’]m not able to|am unable to|must decline)\b"
    r"|as an ai\b",
    re.IGNORECASE,
)
"""Matches phrases that models use to refuse instead of returning an object."""
LONGEST_SHOWN_REPLY = 4_000


@dataclass(frozen=True)
class AnswerWithTokens(Generic[A]):
    value: A
    tokens: tuple[ReplyToken, ...]


@dataclass(frozen=True)
class FreeAnswer:
    text: str
    cut_off: bool
    tokens: tuple[ReplyToken, ...] = ()


class ModelGateway:
    """Answers prompts with one chat model, for all responses being checked. It is bound to one event loop."""

    def __init__(self, chat: ChatModel, transport: Transport, *, repair: Prompt, answers: Answers) -> None:
        self.chat = chat
        self._transport, self._repair, self._answers = transport, repair, answers

    @property
    def abilities(self) -> Abilities:
        return self._transport.abilities

    async def ask_offering(
        self,
        prompt: RenderedPrompt,
        output: type[T],
        *,
        offers: Offers[Any, Any] | None,
        stage: str,
        meter: UsageMeter,
        accept: Accept | None = None,
        top_logprobs: int = 0,
        needed: re.Pattern[str] | None = None,
    ) -> AnswerWithTokens[T | ToolChoice[Any]]:
        """Returns the model's answer as `output`, or its choice among `offers`.

        If a reply does not fit the schema, or `accept` rejects it by raising ModelOutputError, up to `REPAIRS` repair
        turns follow. Each shows the model its last reply and says what was wrong with it. Log-probabilities work as in
        `ask_graded`, but tool calls have none. Costs money unless the same request was made before.

        Raises ModelOutputError, ModelRefusal, ToolError, ToolTimeout and BudgetExceeded. Raises ConfigError if the
        server rejects us, or cannot be reached before it has answered anything.
        """
        first = Request(_messages(prompt), output, offers, stage, meter, top_logprobs, needed, prompt.parts)
        return await self._converse(first, output, accept)

    async def ask_for(
        self, prompt: RenderedPrompt, output: type[T], *, stage: str, meter: UsageMeter, accept: Accept | None = None
    ) -> T:
        """Like `ask_offering`, but without offers. Returns the answer itself."""
        answered = await self.ask_offering(prompt, output, offers=None, stage=stage, meter=meter, accept=accept)
        assert isinstance(answered.value, output)
        return answered.value

    async def ask_graded(
        self,
        prompt: RenderedPrompt,
        output: type[T],
        *,
        stage: str,
        meter: UsageMeter,
        top_logprobs: int,
        accept: Accept | None = None,
        read_text: ReadText[T] | None = None,
        needed: re.Pattern[str] | None = None,
    ) -> AnswerWithTokens[T]:
        """Like `ask_for`, but adds the log-probabilities of the `top_logprobs` most likely tokens at each position.

        If a reply does not follow the schema, `read_text` is tried before any repair turn. With `needed`, only the
        tokens that it matches are returned and stored, with alternatives only for its `value` group.
        """
        first = Request(_messages(prompt), output, None, stage, meter, top_logprobs, needed, prompt.parts)
        answered = await self._converse(first, output, accept, read_text)
        assert isinstance(answered.value, output)
        return AnswerWithTokens(answered.value, answered.tokens)

    async def ask_freely(
        self, prompt: str | RenderedPrompt, *, stage: str, meter: UsageMeter, top_logprobs: int = 0, draw: int = 0
    ) -> FreeAnswer:
        """Sends only `prompt`, without any instructions, schema or repair turns, and returns the text.

        A rendered prompt keeps its system message. `top_logprobs` works as in `ask_graded`. Each `draw` of a prompt is
        a separate answer. A refusal in the text counts as an answer.

        Costs money unless the same request was made before. Raises the errors of `ask_offering`: ModelOutputError for
        an empty reply, ModelRefusal if the provider's filter replaced the reply.
        """
        messages = [HumanMessage(prompt)] if isinstance(prompt, str) else _messages(prompt)
        request = Request(messages, None, None, stage, meter, top_logprobs, draw=draw)
        reply = read_reply((await self._reply(request))["reply"])
        if reply.refusal is None and reply.text.strip():
            return FreeAnswer(reply.text, reply.cut_off, reply.tokens)
        await self._forget(request)
        if reply.refusal is not None:
            raise ModelRefusal(reply.refusal, schema="free answer", reply=reply.text)
        end = ": the token limit was reached before the first word" if reply.cut_off else ""
        raise ModelOutputError(f"the reply is empty{end}", schema="free answer", reply=reply.text)

    async def _converse(
        self, first: Request, output: type[T], accept: Accept | None, read_text: ReadText[T] | None = None
    ) -> AnswerWithTokens[T | ToolChoice[Any]]:
        asked, allowance = [first], first.meter.allowance
        while True:
            try:
                answer = await self._turn(asked[-1], output, accept, read_text)
                allowance.note_answer(self.chat.name, is_readable=True)
                return answer
            except ModelOutputError as error:
                is_last = isinstance(error, ModelRefusal | AskedNoFurther)
                if not is_last and len(asked) <= REPAIRS:
                    asked.append(self._repairing(first, error, n_before=len(asked) - 1))
                    continue
                await self._forget(*asked)
                if is_last:
                    raise
                allowance.note_answer(self.chat.name, is_readable=False)
                raise _told_to_people(error, self.chat.name) from error

    def _repairing(self, first: Request, error: ModelOutputError, *, n_before: int) -> Request:
        """Earlier bad replies are omitted, because they would lengthen the conversation and invite more bad replies.
        Later repairs add that the previous reply was bad too, so that a model that repeats itself gets a new request.
        """
        wrong = f"{error}\n{NOT_THE_FIRST}" if n_before else str(error)
        repair = self._repair.render(error=wrong, schema=json.dumps(first.schema(Mode.TEXT)))
        shown = AIMessage(_sendable(error.reply[:LONGEST_SHOWN_REPLY]) or "(empty)")
        return replace(first, messages=[*first.messages, shown, HumanMessage(_sendable(repair.user))], is_repair=True)

    async def _turn(
        self, request: Request, output: type[T], accept: Accept | None, read_text: ReadText[T] | None
    ) -> AnswerWithTokens[T | ToolChoice[Any]]:
        value = await self._reply(request)
        mode, reply = Mode(value["mode"]), read_reply(value["reply"])
        try:
            answer = _read(reply, output, request.offers, read_text)
            if accept is not None and not isinstance(answer, ToolChoice):
                accept(answer)
        except ModelOutputError:
            self.abilities.note_unreadable(mode, reply)
            raise
        if not request.is_repair:  # a repair may have succeeded because of the schema in its prompt
            self.abilities.note_readable(mode)
        return AnswerWithTokens(answer, reply.tokens)

    async def _forget(self, *requests: Request) -> None:
        for request in requests:
            await self._answers.forget(request_key(self.chat, request))

    async def _reply(self, request: Request) -> Value:
        call = ModelCall(self.chat, self._transport, request, request_key(self.chat, request))
        model = request_values(self.chat, self._transport.model)
        asked = {"gen_ai.operation.name": "chat", **model, "factloop.stage": request.stage}
        with span(f"chat {model['gen_ai.request.model']}", asked, calls=True) as traced:
            traced.say("gen_ai.input.messages", lambda: _said(request))
            value, came_by = await request.meter.allowance.in_time(lambda: self._answers.once(call))
            # Older answers have neither a finish reason nor a model.
            reply, finish = value["reply"], value["reply"].get("finish_reason", "")
            request.meter.snapshots |= {reply["model"]} if reply.get("model") else set()
            ended = {"gen_ai.response.finish_reasons": (finish,)} if finish else {}
            answered = {"factloop.answered_by": BY[came_by], "factloop.mode": value["mode"]}
            traced.set({**answered, **ended, **_tokens(value, came_by)})
            traced.say("gen_ai.output.messages", lambda: as_reply(reply["text"], finish))
            return value


def _tokens(value: Value, came_by: AnsweredBy) -> dict[str, int]:
    """A shared answer's tokens are recorded in the span of the call that paid for it."""
    if came_by != "call":
        return {}
    cost = value["cost"]
    return {"gen_ai.usage.input_tokens": cost["prompt_tokens"], "gen_ai.usage.output_tokens": cost["completion_tokens"]}


def _said(request: Request) -> str:
    roles = {"human": "user", "ai": "assistant"}
    return as_messages([(roles.get(message.type, message.type), str(message.text)) for message in request.messages])


def _messages(prompt: RenderedPrompt) -> list[BaseMessage]:
    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def _sendable(text: str) -> str:
    return text.encode(errors="replace").decode()


class _ReplyCutOff(ModelOutputError):
    pass


def _told_to_people(error: ModelOutputError, model: str) -> ModelOutputError:
    said = error.message
    if isinstance(error, _ReplyCutOff):
        said = "the reply was cut off at the token limit; raise `--max-tokens`"
    return ModelOutputError(said, schema=error.schema, reply=error.reply, model=model)


def _read(
    reply: Reply, output: type[T], offers: Offers[Any, Any] | None, read_text: ReadText[T] | None
) -> T | ToolChoice[Any]:
    title = output.__name__
    if reply.refusal is not None:
        raise ModelRefusal(reply.refusal, schema=title, reply=reply.text)
    if reply.cut_off:
        raise _ReplyCutOff("the reply was cut off at the token limit: be shorter", schema=title, reply=reply.text)
    if reply.tool_calls:
        return _called(reply.tool_calls[0], output, offers)  # if there are several, the model prefers the first
    if offers is None:
        return _read_text(reply.text, output, read_text)
    answer = parse_reply(reply.text, offers.answer_or_choice)
    return offers.choice_in(answer) or output.model_validate(answer.model_dump(include=set(output.model_fields)))


def _read_text(text: str, output: type[T], read_text: ReadText[T] | None) -> T:
    try:
        return parse_reply(text, output)
    except ModelOutputError:
        if read_text is not None:
            answer = read_text(text)
        elif _DECLINES.match(text.strip()) and "{" not in text:
            raise ModelRefusal(text.strip()[:LONGEST_REFUSAL], schema=output.__name__, reply=text) from None
        else:
            answer = None
        if answer is None:
            raise
        return answer


def _called(call: ToolCall, output: type[T], offers: Offers[Any, Any] | None) -> T | ToolChoice[Any]:
    title = output.__name__
    said = f"{call.name}({call.args})"
    args = output if call.name == title else offers.args if offers is not None and call.name in offers.tools else None
    if args is None:
        raise ModelOutputError(f"there is no tool {call.name!r}", schema=title, reply=said)
    if isinstance(call.args, str):
        raise ModelOutputError(f"the arguments of {call.name!r} are not JSON", schema=title, reply=said)
    read = validate(call.args, args, reply=said)
    if isinstance(read, output):
        return read
    if is_blank(read):
        wanted = ", ".join(args.model_fields)
        raise ModelOutputError(
            f"the call to {call.name!r} must provide at least one of: {wanted}", schema=title, reply=said
        )
    return ToolChoice(call.name, read)
