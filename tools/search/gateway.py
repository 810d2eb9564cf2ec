"""The gateway for all searches. It caches, rate-limits, retries, meters and deduplicates queries."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from pydantic import TypeAdapter

from factloop.core.errors import TOO_MANY_REQUESTS, FactloopError, ToolError, ToolTimeout
from factloop.tools.calls.answers import Answers, Value
from factloop.tools.calls.blame import OUT_OF_REACH, FirstAnswer, is_out_of_reach, is_wrong_set_up, raise_blamed
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.limiter import Limiter, Slot
from factloop.tools.calls.meter import CallCost, UsageMeter
from factloop.tools.calls.modes import PATIENCE_S, REST_S
from factloop.tools.calls.patience import Patience
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.tape import TapeRequest
from factloop.tools.calls.together import SingleFlight, together
from factloop.tools.calls.tracing import current_span, span
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool

T = TypeVar("T")

BY = {"call": "search", "cache": "cache", "identical_call": "identical_call"}
KEEP_S = 24 * 3600.0
"""Seconds after which a web search in the shared cache is repeated. Answers in a run directory never expire."""


@dataclass(frozen=True)
class SearchAnswer:
    query: str
    hits: tuple[SearchHit, ...]
    retrieved_at: datetime


_ANSWER = TypeAdapter(SearchAnswer)


def limiter_of_tool(tool: SearchTool) -> Limiter:
    return Limiter(concurrency=tool.concurrency_limit)


class Server:
    def __init__(self, tool: SearchTool, limiter: Limiter, patience_s: float, rest_s: float = REST_S) -> None:
        self.limiter = limiter
        self.patience = Patience(tool.name, patience_s, rest_s)
        self.first_answer = FirstAnswer()
        self.is_looked_at = False


class SearchGateway:
    """Answers queries with the search tools of a run, for all checked responses. It is bound to one event loop."""

    def __init__(
        self,
        tools: Sequence[SearchTool],
        *,
        results: int,
        answers: Answers,
        retry: RetryPolicy,
        timeout_s: float,
        rng: random.Random,
        budget: Budget | None = None,
        patience_s: float = PATIENCE_S,
        rest_s: float = REST_S,
        servers: dict[int, Server] | None = None,
        limiter_of: Callable[[SearchTool], Limiter] = limiter_of_tool,
    ) -> None:
        """We give up on a server that accepts no request for `patience_s` seconds. `rest_s` is the longest pause before
        trying it again.

        Searches are charged to `budget`. A tool with an unknown price counts as free. Gateways with the same `servers`
        or the same `limiter_of` share their limiters.
        """
        self.tools = tuple(tools)
        self._results = results
        self._answers, self._for_one_check = answers, answers.for_one_check()
        self._retry, self._budget = retry, budget or Budget()
        self._timeout_s, self._patience_s, self._rest_s, self._rng = timeout_s, patience_s, rest_s, rng
        self._limiter_of = limiter_of
        self._servers: dict[int, Server] = {} if servers is None else servers
        """Maps the ids of existing tools to servers, so that all gateways use the same limiter for a tool."""
        self._looks: SingleFlight[ToolError | None] = SingleFlight()

    def over(self, tools: Sequence[SearchTool]) -> SearchGateway:
        """Returns a gateway to other tools, with the answers, budget and limiters of this one.

        Answers from tools that are not cacheable are discarded with the gateway, because two retrievers of the same
        type look alike but must not get each other's hits.
        """
        other = copy(self)
        other.tools = tuple(tools)
        other._for_one_check = self._answers.for_one_check()
        return other

    def deeper(self, results: int) -> SearchGateway:
        other = copy(self)
        other._results = max(results, self._results)
        return other

    def _server(self, tool: SearchTool) -> Server:
        if id(tool) not in self._servers:
            self._servers[id(tool)] = Server(tool, self._limiter_of(tool), self._patience_s, self._rest_s)
            weakref.finalize(tool, self._servers.pop, id(tool), None).atexit = False
        return self._servers[id(tool)]

    async def reach(self) -> None:
        """Checks once, before money is spent, that some search server can be reached and none rejects our requests.

        Raises ConfigError for a rejected key, and ToolError if no tool's server can be reached. Servers that cannot be
        reached are then tried only occasionally, and other searches with their tools fail.
        """
        servers = [self._server(tool) for tool in self.tools]
        if all(server.is_looked_at for server in servers):
            return
        looks = (self._looks.do(str(id(tool)), partial(self._look_at, tool)) for tool in self.tools)
        failures = [failure for failure, _ in await together(looks) if failure is not None]
        if len(failures) == len(servers):
            raise failures[0]
        for server in servers:
            server.is_looked_at = True

    async def _look_at(self, tool: SearchTool) -> ToolError | None:
        server = self._server(tool)
        if not server.is_looked_at:
            try:
                await server.patience.wait_for(lambda: self._retry.run(partial(self._say_hello, tool), self._rng))
            except ToolError as error:
                if is_wrong_set_up(error):
                    raise_blamed(error, answered=False)
                if server.patience.is_given_up:
                    return error
                said = f"{error}: {OUT_OF_REACH}" if is_out_of_reach(error) else str(error)
                return server.patience.give_up(said)
        return None

    async def _say_hello(self, tool: SearchTool) -> None:
        patience = self._server(tool).patience
        try:
            with patience.asking(is_hello=True):
                await self._in_time(tool.areach(), tool, min(REACH_S, patience.seconds))
        except ToolTimeout:
            if patience.is_given_up:
                raise  # a server that is only slow may still answer
        except FactloopError:
            raise
        except Exception as error:  # a user's tool may raise anything
            said = f"{tool.name}: cannot check the server ({type(error).__name__})"
            raise ToolError(said, tool=tool.name) from error

    @property
    def is_given_up(self) -> bool:
        """Whether we have given up on every tool's server."""
        return all(self._server(tool).patience.is_given_up for tool in self.tools)

    def in_turn(self, name: str | None, round_number: int) -> tuple[SearchTool, ...]:
        """Returns all tools, starting with the named one. If none is named, each round starts with a different tool."""
        names = [tool.name for tool in self.tools]
        first = names.index(name) if name in names else round_number % len(names)
        return (*self.tools[first:], *self.tools[:first])

    async def search(self, tool: SearchTool, query: str, *, stage: str, meter: UsageMeter) -> SearchAnswer:
        """Returns a query's hits. May cost money. Raises ToolError, ToolTimeout, BudgetExceeded or ConfigError."""
        query = " ".join(query.split())
        asked = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": tool.name, "factloop.stage": stage}
        with span(f"retrieval {tool.name}", asked, calls=True) as traced:
            traced.say("gen_ai.retrieval.query.text", lambda: query)
            call = SearchCall(self, tool, query, stage, meter, self.key(tool, query))
            answers = self._answers if tool.cacheable else self._for_one_check
            value, came_by = await meter.allowance.in_time(lambda: answers.once(call))
            found = call.read(value)
            traced.set({"factloop.answered_by": BY[came_by], "factloop.n_hits": len(found.hits)})
            return found

    async def ask(self, tool: SearchTool, query: str, *, stage: str, meter: UsageMeter) -> Value:
        """Calls the tool directly, bypassing the store of answers. Raises the same errors as `search`."""
        if tool.is_local:
            return await self._search_here(tool, query, stage, meter)
        server = self._server(tool)
        attempt = partial(self._attempt, tool, query, stage, meter)
        try:
            return await server.patience.wait_for(lambda: self._retry.run(attempt, self._rng))
        except ToolError as error:
            if is_wrong_set_up(error):
                await server.first_answer.raise_blamed(error)
            raise  # only claims that need this server stay unscored

    def key(self, tool: SearchTool, query: str) -> str:
        request = ["search", tool.name, tool.identity, query, self._results]
        return hashlib.sha256(json.dumps(request).encode("utf-8", "surrogatepass")).hexdigest()

    def recorded_as(self, tool: SearchTool, query: str) -> TapeRequest | None:
        """Returns the search as recorded on a tape, or None for a local, repeatable tool."""
        if tool.recorded_as is None:
            return None
        exact = [tool.name, tool.recorded_as, query, self._results]
        return TapeRequest("search", exact, {"tool": tool.name, "query": query, "results": self._results})

    async def _search_here(self, tool: SearchTool, query: str, stage: str, meter: UsageMeter) -> Value:
        """Skips the layers that handle servers, which take a third of the time when there are few passages."""
        started = time.perf_counter()
        try:
            hits = await self._hits(tool, query)
        except FactloopError as error:
            meter.failed(stage, time.perf_counter() - started)
            current_span().failed(error)
            raise
        meter.searched(stage, time.perf_counter() - started, tool.usd_per_query)
        return self._answer(query, hits)

    async def _attempt(self, tool: SearchTool, query: str, stage: str, meter: UsageMeter) -> Value:
        server, price = self._server(tool), tool.usd_per_query
        async with (
            meter.allowance.reserve(price or 0.0, calls=0) as of_check,
            self._budget.reserve(price or 0.0, calls=0) as reservation,
            server.limiter.slot() as ticket,
        ):
            started, cost = time.perf_counter(), CallCost(0, 0, approximate=False, cost_usd=price)
            meter.sent(lambda: cost, calls=0)
            try:
                with server.patience.asking(), server.first_answer.awaited():
                    hits = await self._paced_hits(tool, query, ticket)
            except (ToolTimeout, asyncio.CancelledError) as error:  # the request was sent, so it must be paid for
                reservation.spent_usd = of_check.spent_usd = price or 0.0
                meter.given_up(stage, cost, time.perf_counter() - started)
                if isinstance(error, FactloopError):
                    current_span().failed(error)
                raise
            except FactloopError as error:
                if _is_answered(error):
                    reservation.spent_usd = of_check.spent_usd = price or 0.0
                    meter.searched_in_vain(stage, time.perf_counter() - started, price)
                else:
                    meter.failed(stage, time.perf_counter() - started)
                current_span().failed(error)
                raise
            reservation.spent_usd = of_check.spent_usd = price or 0.0
            meter.searched(stage, time.perf_counter() - started, price)
            return self._answer(query, hits)

    def _answer(self, query: str, hits: Sequence[SearchHit]) -> Value:
        return {
            "query": query,
            "hits": [hit.model_dump(mode="json") for hit in hits[: self._results]],
            "retrieved_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    async def _paced_hits(self, tool: SearchTool, query: str, ticket: Slot) -> list[SearchHit]:
        try:
            return await self._in_time(self._hits(tool, query), tool, self._timeout_s)
        except ToolError as error:
            if error.status == TOO_MANY_REQUESTS:
                self._server(tool).limiter.refused(ticket, error.retry_after_s)
            elif error.wants_pause:
                self._server(tool).limiter.pause(ticket, error.retry_after_s or 0.0)
            raise

    async def _hits(self, tool: SearchTool, query: str) -> list[SearchHit]:
        """A user's tool may raise any error, including `TimeoutError`, and return anything."""
        try:
            found = await tool.asearch(query, self._results)
        except FactloopError:
            raise
        except Exception as error:
            raise ToolError(f"{tool.name}: the search failed ({type(error).__name__})", tool=tool.name) from error
        if not isinstance(found, list) or not all(isinstance(hit, SearchHit) for hit in found):
            raise ToolError(f"{tool.name}: the search must return a list of SearchHit objects", tool=tool.name)
        return found

    @staticmethod
    async def _in_time(work: Awaitable[T], tool: SearchTool, timeout_s: float) -> T:
        try:
            async with asyncio.timeout(timeout_s):
                return await work
        except TimeoutError as error:
            raise ToolTimeout(tool=tool.name, timeout_s=timeout_s) from error


@dataclass(frozen=True)
class SearchCall:
    gateway: SearchGateway
    tool: SearchTool
    query: str
    stage: str
    meter: UsageMeter
    key: str
    keep_s: float | None = KEEP_S

    @property
    def recorded_as(self) -> TapeRequest | None:
        return self.gateway.recorded_as(self.tool, self.query)

    async def make(self, meter: UsageMeter) -> Value:
        return await self.gateway.ask(self.tool, self.query, stage=self.stage, meter=meter)

    def price(self, value: Value) -> tuple[int, float]:  # noqa: ARG002 - all queries cost the same
        return 0, self.tool.usd_per_query or 0.0

    def charge_earlier(self, value: Value) -> None:  # noqa: ARG002 - all queries cost the same
        self.meter.searched(self.stage, 0.0, self.tool.usd_per_query)

    def read(self, value: Mapping[str, Any]) -> SearchAnswer:
        return _ANSWER.validate_python(value)


def _is_answered(error: FactloopError) -> bool:
    """Providers charge for answers with a success status, whatever they contain."""
    return isinstance(error, ToolError) and error.status is not None and 200 <= error.status < 300
