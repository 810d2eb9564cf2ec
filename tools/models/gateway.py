"""The one door to a chat model: every prompt goes through it, and is answered as its schema or not at all."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from factloop.errors import ModelOutputError, ModelRefusal
from factloop.prompts.registry import Prompt, Rendered
from factloop.tools.calls.cache import CallCache, Kept
from factloop.tools.calls.meter import CallCost, UsageMeter
from factloop.tools.calls.single_flight import SingleFlight
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.offers import Chosen, Offers
from factloop.tools.models.parsing import parse_reply, validate
from factloop.tools.models.schema import strict_schema
from factloop.tools.models.transport import Request, Transport
from factloop.tools.models.wire import Reply, ToolCall

T = TypeVar("T", bound=BaseModel)

LONGEST_SHOWN_REPLY = 4_000
"""Characters of a bad reply that the repair turn shows the model again."""


class ModelGateway:
    """Answers prompts from one chat model. Shared by all responses under check; lives in one event loop."""

    def __init__(
        self,
        chat: ChatModel,
        transport: Transport,
        *,
        repair: Prompt,
        cache: CallCache,
        journal: bool = False,
    ) -> None:
        """With `journal`, answers that an earlier attempt left in `cache` count as paid by this run."""
        self.chat = chat
        self._transport, self._repair = transport, repair
        self._cache, self._journal = cache, journal
        self._flights: SingleFlight[dict[str, Any]] = SingleFlight()
        self._replayed: set[str] = set()

    async def ask(
        self,
        prompt: Rendered,
        output: type[T],
        *,
        stage: str,
        meter: UsageMeter,
        offers: Offers[Any, Any] | None = None,
    ) -> T | Chosen[Any]:
        """The model's answer as `output`, or its choice among `offers`.

        Costs money unless the same was asked before. Raises ModelOutputError where the reply cannot be read even after
        one repair turn, ModelRefusal, ToolError, ToolTimeout, BudgetExceeded; ConfigError where the server refuses us
        or cannot be reached before it has answered anything.
        """
        key = self._key(prompt, output, offers)
        if (kept := self._cache.get(key)) is not None:
            self._count_kept(key, kept, stage, meter)
            return _decode(kept.value, output, offers)

        async def converse() -> dict[str, Any]:
            return await self._converse(key, prompt, output, offers, stage, meter)

        value, shared = await self._flights.do(key, converse)
        if shared:
            meter.hit(stage)
        return _decode(value, output, offers)

    async def ask_for(self, prompt: Rendered, output: type[T], *, stage: str, meter: UsageMeter) -> T:
        """`ask` without offers: the answer itself."""
        answer = await self.ask(prompt, output, stage=stage, meter=meter)
        assert isinstance(answer, output)
        return answer

    def _key(self, prompt: Rendered, output: type[BaseModel], offers: Offers[Any, Any] | None) -> str:
        request = {
            "model": self.chat.identity,
            "messages": [prompt.system, prompt.user],
            "schema": strict_schema(output),
            "tools": offers.as_openai if offers is not None else [],
        }
        return hashlib.sha256(json.dumps(request, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()

    def _count_kept(self, key: str, kept: Kept, stage: str, meter: UsageMeter) -> None:
        if not (self._journal and kept.earlier) or key in self._replayed:
            meter.hit(stage)
            return
        self._replayed.add(key)
        for cost in (CallCost(**item) for item in kept.value["costs"]):
            meter.called(stage, cost, wall_s=0.0)

    async def _converse(
        self,
        key: str,
        prompt: Rendered,
        output: type[BaseModel],
        offers: Offers[Any, Any] | None,
        stage: str,
        meter: UsageMeter,
    ) -> dict[str, Any]:
        """Asks; shows the model its error once if the reply cannot be read; keeps the readable answer."""
        messages: list[BaseMessage] = [SystemMessage(prompt.system), HumanMessage(prompt.user)]
        reply, cost = await self._transport.send(Request(messages, output, offers, stage, meter))
        costs = [cost]
        try:
            answer = _read(reply, output, offers)
        except ModelRefusal:
            raise
        except ModelOutputError as error:
            repair = HumanMessage(self._repair.render(error=str(error)).user)
            shown = AIMessage(error.reply[:LONGEST_SHOWN_REPLY] or "(empty)")
            reply, cost = await self._transport.send(Request([*messages, shown, repair], output, offers, stage, meter))
            costs.append(cost)
            answer = _read(reply, output, offers)
        kept = {**answer, "costs": [asdict(cost) for cost in costs]}
        self._cache.put(key, kept, calls=len(costs), usd=sum(cost.cost_usd or 0.0 for cost in costs))
        return kept


def _read(reply: Reply, output: type[BaseModel], offers: Offers[Any, Any] | None) -> dict[str, Any]:
    """The reply in the plain form that is kept: the answer, or the tool chosen with its arguments."""
    title = output.__name__
    if reply.refusal is not None:
        raise ModelRefusal(reply.refusal, schema=title, reply=reply.text)
    if reply.cut_off:
        raise ModelOutputError("the reply was cut off at the token limit: be shorter", schema=title, reply=reply.text)
    if reply.tool_calls:
        # Where a model calls several tools at once, the first is its first choice.
        return _read_call(reply.tool_calls[0], output, offers)
    if offers is None:
        return {"answer": parse_reply(reply.text, output).model_dump(mode="json")}
    answer = parse_reply(reply.text, offers.answer_or_choice)
    choice = offers.choice_in(answer)
    if choice is not None:
        return _kept_choice(choice)
    return {"answer": answer.model_dump(mode="json", include=set(output.model_fields))}


def _read_call(call: ToolCall, output: type[BaseModel], offers: Offers[Any, Any] | None) -> dict[str, Any]:
    title = output.__name__
    said = f"{call.name}({call.args})"
    offered = offers is not None and call.name in offers.tools
    if call.name != title and not offered:
        raise ModelOutputError(f"there is no tool {call.name!r}", schema=title, reply=said)
    if isinstance(call.args, str):
        raise ModelOutputError(f"the arguments of {call.name!r} are not JSON", schema=title, reply=said)
    if call.name == title:
        return {"answer": validate(call.args, output, reply=said).model_dump(mode="json")}
    assert offers is not None
    return _kept_choice(Chosen(call.name, validate(call.args, offers.args, reply=said)))


def _kept_choice(choice: Chosen[Any]) -> dict[str, Any]:
    return {"tool": choice.name, "args": choice.args.model_dump(mode="json")}


def _decode(value: dict[str, Any], output: type[T], offers: Offers[Any, Any] | None) -> T | Chosen[Any]:
    if "answer" in value:
        return output.model_validate_json(json.dumps(value["answer"]))
    assert offers is not None  # the key under which a choice is kept holds the tools that were offered
    return Chosen(value["tool"], offers.args.model_validate_json(json.dumps(value["args"])))
