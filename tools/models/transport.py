"""Sends requests to a chat model in the strongest mode that the server supports, with limits, retries and metering."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ValidationError

from factloop.core.errors import TOO_MANY_REQUESTS, AskedNoFurther, ConfigError, FactloopError, ToolError, ToolTimeout
from factloop.prompts.registry import Prompt
from factloop.tools.calls.blame import FirstAnswer, chain
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.limiter import Limiter, Slot
from factloop.tools.calls.meter import CallCost, UsageMeter
from factloop.tools.calls.patience import Patience
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.tracing import current_span
from factloop.tools.models import wire
from factloop.tools.models.abilities import Abilities, Concession
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.failures import error_field, translate
from factloop.tools.models.logprobs import only_needed
from factloop.tools.models.prices import unknown_price
from factloop.tools.models.schema import Offers, strict_schema
from factloop.tools.models.tokens import count_tokens
from factloop.tools.models.wire import Mode, ModeUnavailable, Reply

MODE_REFUSED = frozenset({400, 422, 501})
"""Statuses with which servers reject a mode that they do not support."""
NO_ENDPOINT = 404
"""The status that routers return if none of their servers for this model supports tools."""
LOGPROBS_REFUSED = frozenset({400, 403, 404, 422, 501})
"""Statuses with which servers reject log-probabilities. Not every server names the rejected field."""
LOGPROBS_FIELDS = frozenset({"logprobs", "top_logprobs"})
REFUSED_SETTINGS = {
    "temperature": Concession.NO_TEMPERATURE,
    "max_completion_tokens": Concession.MAX_TOKENS,
    "max_tokens": Concession.NO_LIMIT,
}
"""Maps each setting that a server may reject to a concession. If the server names no setting, all are tried."""
MOST_BEGINNINGS = 10_000
DEFAULT_COMPLETION = 1024


@dataclass(frozen=True)
class Request:
    messages: Sequence[BaseMessage]
    output: type[BaseModel] | None
    """The type of the answer, or None for free text, for which the messages are sent without a schema."""
    offers: Offers[Any, Any] | None
    stage: str
    meter: UsageMeter
    top_logprobs: int = 0
    """Number of alternatives to request for each token, with their log-probabilities, if the server supports this."""
    needed: re.Pattern[str] | None = None
    """Matches the tokens to keep (see `logprobs.only_needed`). By default, all are kept."""
    parts: Sequence[int] = ()
    """Positions in the first user turn. Other requests may share the text up to each of them."""
    draw: int = 0
    """Distinguishes several answers to the same messages, each requested and stored separately."""
    is_repair: bool = False
    """Repairs go first, to find out early whether the model's answers can be parsed."""
    tried: Concession | None = None
    """A concession to try, to find out whether the server then answers."""

    def schema(self, mode: Mode) -> wire.Schema:
        """Returns the schema of the reply. Without tool calling, it includes the tool choice."""
        if self.output is None:
            return {}
        if self.offers is None or mode is Mode.TOOLS:
            return strict_schema(self.output)
        merged: type[BaseModel] = self.offers.answer_or_choice
        return strict_schema(merged)


class Transport:
    """Sends requests to one chat model, for all responses being checked. It is bound to one event loop."""

    def __init__(
        self,
        chat: ChatModel,
        *,
        json_reply: Prompt,
        limiter: Limiter,
        budget: Budget,
        retry: RetryPolicy,
        timeout_s: float | None,
        rng: random.Random,
        use_tools: bool = True,
        patience: Patience | None = None,
        abilities: Abilities | None = None,
    ) -> None:
        """`patience` and `abilities` belong to the model's server. By default, new ones are created."""
        if budget.limits_money and chat.price is None:
            raise ConfigError(unknown_price(chat.name))
        self._chat, self._model = chat, _without_tokens(chat.model)
        self._json_reply = json_reply
        self._limiter, self._budget, self._retry = limiter, budget, retry
        self._patience = patience or Patience(chat.name)
        self._timeout_s, self._rng = timeout_s, rng
        self._use_tools = use_tools
        self._first_answer = FirstAnswer()
        self.abilities = abilities or Abilities()
        self._has_answered = False
        self._beginnings: set[int] = set()

    @property
    def model(self) -> BaseChatModel:
        """The model as it is called now, without the settings that its server rejected."""
        return _conceding(self._model, self.abilities.known.conceded)

    async def send(self, request: Request) -> tuple[Reply, CallCost, Mode]:
        """Returns the model's reply, its cost, and the mode used to request it.

        If a server rejects log-probabilities, they are not requested again. Raises ToolError, ToolTimeout,
        ModelRefusal, BudgetExceeded or ConfigError.
        """
        if request.meter.before_paying is not None:
            await request.meter.before_paying()
        if not request.top_logprobs or self.abilities.gives_logprobs is not None:
            return await self._send(request)
        gives_logprobs = True
        try:
            answer = await self._send(request, blaming=False)
        except ToolError as error:
            if error.status not in LOGPROBS_REFUSED:
                await self._first_answer.raise_blamed(error)
            answer = await self._send(replace(request, top_logprobs=0))
            gives_logprobs = False
        if self.abilities.gives_logprobs is None and answer[-1] is not Mode.TOOLS:  # not requested with tool calls
            self.abilities.gives_logprobs = gives_logprobs
        return answer

    async def _send(self, request: Request, *, blaming: bool = True) -> tuple[Reply, CallCost, Mode]:
        """If the server rejects the first requests in all modes, settings that may be the cause are left out. With
        `blaming`, raises ConfigError if a server that has never answered rejects our requests.
        """
        try:
            return await self._in_some_mode(request, blaming=blaming)
        except ToolError as error:
            if error.status not in MODE_REFUSED or self._has_answered:
                raise
            refusal = error
        for concession in Concession:
            if concession in self.abilities.known.conceded:
                continue
            try:
                answer = await self._in_some_mode(replace(request, tried=concession), blaming=blaming)
            except ToolError as error:
                if error.status not in MODE_REFUSED:
                    raise
            else:
                self.abilities.note_conceded(concession)
                return answer
        raise refusal

    async def _in_some_mode(self, request: Request, *, blaming: bool) -> tuple[Reply, CallCost, Mode]:
        """A mode counts as unavailable only if a weaker one works. If none works, the request is at fault."""
        refused: list[Mode] = []
        refusal: ToolError | None = None
        for mode in Mode if request.output is not None else (Mode.TEXT,):
            if not self.abilities.offers(mode) or (mode is Mode.TOOLS and not (self._use_tools and request.offers)):
                continue
            try:
                answer = await self._patience.wait_for(partial(self._tried, mode, request))
            except ModeUnavailable:
                refused.append(mode)
            except ToolError as error:
                if error.status not in MODE_REFUSED and not (mode is Mode.TOOLS and error.status == NO_ENDPOINT):
                    if not blaming:
                        raise
                    await self._first_answer.raise_blamed(error)
                refusal = error  # the last rejection concerns plain text, and thus the request itself
                refused.append(mode)
            else:
                self._has_answered = True
                self.abilities.note_refused(refused)
                return *answer, mode
        assert refusal is not None  # plain text is always tried, so the server rejected even that
        raise refusal

    async def _tried(self, mode: Mode, request: Request) -> tuple[Reply, CallCost]:
        return await self._retry.run(partial(self._attempt, mode, request), self._rng)

    async def _attempt(self, mode: Mode, request: Request) -> tuple[Reply, CallCost]:
        put = self._bound(mode, request)
        messages = self._messages(mode, request)
        limits_money = self._budget.limits_money or request.meter.allowance.limits_money
        worst_usd = (self._most(request, mode, messages).cost_usd or 0.0) if limits_money else 0.0
        # The budget is checked first, so that calls that exceed it do not wait for their turn.
        async with (
            request.meter.allowance.reserve(worst_usd) as of_check,
            self._budget.reserve(worst_usd) as reservation,
        ):
            reservation.is_unused = of_check.is_unused = True
            async with self._limiter.slot(ahead=request.is_repair) as ticket:
                if (said := request.meter.allowance.unreadable(self._chat.name)) is not None:
                    raise AskedNoFurther(said, schema="", reply="", model=self._chat.name)
                reservation.is_unused = of_check.is_unused = False
                if self.abilities.gives_logprobs is False and request.top_logprobs:
                    put = self._bound(mode, request)  # this may have become known while the request waited
                started, most = time.perf_counter(), partial(self._most, request, mode, messages)
                request.meter.sent(most)
                try:
                    with self._patience.asking(), self._first_answer.awaited():
                        reply = await self._reply(put, messages, ticket)
                except (ToolTimeout, asyncio.CancelledError) as error:  # the request was sent, so it must be paid for
                    reservation.spent_usd = of_check.spent_usd = worst_usd
                    request.meter.given_up(request.stage, most(), time.perf_counter() - started)
                    if isinstance(error, FactloopError):
                        current_span().failed(error)
                    raise
                except FactloopError as error:
                    request.meter.failed(request.stage, time.perf_counter() - started)
                    current_span().failed(error)
                    raise
                if request.needed is not None:
                    reply = replace(reply, tokens=only_needed(reply.tokens, request.needed))
                cost = self._cost(reply, messages)
                reservation.spent_usd = of_check.spent_usd = cost.cost_usd or 0.0
                request.meter.called(request.stage, cost, time.perf_counter() - started)
                return reply, cost

    async def _reply(self, put: wire.Bound, messages: Sequence[BaseMessage], ticket: Slot) -> Reply:
        try:
            async with asyncio.timeout(self._timeout_s):
                return wire.read_reply(await put(messages))
        except ValidationError as error:
            return wire.misshapen_reply(error)
        except TimeoutError as error:
            raise ToolTimeout(tool=self._chat.name, timeout_s=self._timeout_s or 0.0) from error
        except Exception as error:  # client libraries have no common base class, so all errors are translated
            for one in chain(error):  # tracebacks form cycles, which would keep long replies in memory
                one.__traceback__ = None
            raise self._failure(error, ticket) from error

    def _bound(self, mode: Mode, request: Request) -> wire.Bound:
        # Tool calls have no log-probabilities, so requesting them would waste time.
        top_logprobs = 0 if mode is Mode.TOOLS or self.abilities.gives_logprobs is False else request.top_logprobs
        model, offers = _conceding(self._model, self._conceded(request)), request.offers
        offered = offers.as_openai if offers is not None else []
        return wire.bind(model, mode, request.schema(mode), offered, top_logprobs=top_logprobs)

    def _conceded(self, request: Request) -> frozenset[Concession]:
        known = self.abilities.known.conceded
        return known if request.tried is None else known | {request.tried}

    def _messages(self, mode: Mode, request: Request) -> Sequence[BaseMessage]:
        messages = request.messages
        if Concession.NO_SYSTEM in self._conceded(request) and isinstance(messages[0], SystemMessage):
            system, first, *others = messages
            messages = [HumanMessage(f"{system.text}\n\n{first.text}"), *others]
        if request.output is not None and mode in wire.NEEDS_SCHEMA_IN_PROMPT:
            asked = self._json_reply.render(schema=json.dumps(request.schema(mode)))
            *before, last = messages
            messages = [*before, HumanMessage(f"{last.text}\n\n{asked.user}")]
        if not wire.caches_by_breakpoints(self._model) or not isinstance(messages[0], SystemMessage):
            return messages
        return wire.with_breakpoints(messages, self._shared(messages[1].text, request.parts))

    def _shared(self, text: str, parts: Sequence[int]) -> int:
        if len(self._beginnings) > MOST_BEGINNINGS:
            self._beginnings.clear()
        hashes = {hash(text[:end]): end for end in parts}
        shared = max((end for key, end in hashes.items() if key in self._beginnings), default=0)
        self._beginnings.update(hashes)
        return shared

    def _failure(self, error: Exception, ticket: Slot) -> FactloopError:
        failure = translate(error, self._chat.name)
        if not isinstance(failure, ToolError):
            return failure
        if failure.status == TOO_MANY_REQUESTS:
            self._limiter.refused(ticket, failure.retry_after_s)
        setting = error_field(error, "param")
        conceded = REFUSED_SETTINGS.get(setting or "")
        if failure.status == 400 and conceded is not None and conceded not in self.abilities.known.conceded:
            self.abilities.note_conceded(conceded)
            failure.retryable = True
        if setting in LOGPROBS_FIELDS:
            self.abilities.gives_logprobs = False
            failure.retryable = True
        return failure

    def _most(self, request: Request, mode: Mode, messages: Sequence[BaseMessage]) -> CallCost:
        """Counts the bytes of the prompt and the schema, because each token has at least one byte."""
        tools = request.offers.as_openai if request.offers is not None else []
        extra = json.dumps([request.schema(mode), tools])
        prompt_bytes = sum(len(str(message.text).encode("utf-8", "replace")) for message in messages) + len(extra)
        completion, price = self._chat.max_tokens or DEFAULT_COMPLETION, self._chat.price
        cost_usd = None if price is None else price.cost_usd(prompt_bytes, completion)
        return CallCost(prompt_bytes, completion, approximate=True, cost_usd=cost_usd)

    def _cost(self, reply: Reply, messages: Sequence[BaseMessage]) -> CallCost:
        prompt_tokens, completion_tokens = reply.prompt_tokens, reply.completion_tokens
        approximate = prompt_tokens is None or completion_tokens is None
        if prompt_tokens is None or completion_tokens is None:
            prompt_tokens = sum(count_tokens(str(message.text)) for message in messages)
            completion_tokens = count_tokens(reply.text + "".join(str(call.args) for call in reply.tool_calls))
        price = self._chat.price
        cached, written = reply.cached_tokens, reply.written_tokens
        cost_usd = (
            None if price is None else price.cost_usd(prompt_tokens, completion_tokens, cached=cached, written=written)
        )
        return CallCost(prompt_tokens, completion_tokens, approximate, cost_usd, cached)


def _without_tokens(model: BaseChatModel) -> BaseChatModel:
    """Disables streaming, because LangChain would stream whenever an application listens to tokens. Streaming stays
    enabled if the user has set it, because the server may support nothing else.
    """
    return model if getattr(model, "streaming", False) else model.model_copy(update={"disable_streaming": True})


def _conceding(model: BaseChatModel, conceded: frozenset[Concession]) -> BaseChatModel:
    changes: dict[str, Any] = {}
    if Concession.NO_TEMPERATURE in conceded and hasattr(model, "temperature"):
        changes["temperature"] = None
    limit = getattr(model, "max_tokens", None)
    if limit is not None and conceded & {Concession.MAX_TOKENS, Concession.NO_LIMIT}:
        changes["max_tokens"] = None
        if Concession.NO_LIMIT not in conceded and hasattr(model, "extra_body"):
            changes["extra_body"] = {**(model.extra_body or {}), "max_tokens": limit}
    return model.model_copy(update=changes) if changes else model
