"""The only way to the search tools: caches, paces, retries, times out and meters, and asks identical queries once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
import weakref
from collections.abc import Awaitable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

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
"""What a span calls the ways in which hits came."""
KEEP_S = 24 * 3600.0
"""Age at which a web search in the shared cache is asked again; within one run directory answers never age."""


@dataclass(frozen=True)
class SearchAnswer:
    """The answer to one query."""

    query: str
    hits: tuple[SearchHit, ...]
    retrieved_at: datetime


class Server:
    """The server behind one tool: its pace, the patience with it, and whether it ever answered."""

    def __init__(self, tool: SearchTool, patience_s: float, rest_s: float = REST_S) -> None:
        self.limiter = Limiter(concurrency=tool.concurrency_limit)
        self.patience = Patience(tool.name, patience_s, rest_s)
        self.first_answer = FirstAnswer()
        self.is_looked_at = False


class SearchGateway:
    """Answers queries from the search tools of a run. Shared by all responses under check; lives in one event loop."""

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
    ) -> None:
        """`patience_s`: give up on a tool's server when it has accepted no request for this long; `rest_s`: then leave
        it alone for so long at most.

        `budget` is charged with what searches cost; those of a tool whose price is unknown count as free. Gateways with
        the same `servers` share the pace of each.
        """
        self.tools = tuple(tools)
        self._results = results
        self._answers, self._for_one_check = answers, answers.for_one_check()
        self._retry, self._budget = retry, budget or Budget()
        self._timeout_s, self._patience_s, self._rest_s, self._rng = timeout_s, patience_s, rest_s, rng
        self._servers: dict[int, Server] = {} if servers is None else servers
        """Servers by the tool's id, for as long as the tool lives: a tool has one pace, whichever gateway calls it."""
        self._looks: SingleFlight[ToolError | None] = SingleFlight()

    def over(self, tools: Sequence[SearchTool]) -> SearchGateway:
        """A gateway to other tools that shares answers, budget and pace with this one.

        What it finds in tools that are not worth keeping is its own, and forgotten with it: two retrievers of one kind
        look alike, and must not get each other's hits.
        """
        other = copy(self)
        other.tools = tuple(tools)
        other._for_one_check = self._answers.for_one_check()
        return other

    def deeper(self, results: int) -> SearchGateway:
        """The same gateway with so many hits a query, or more."""
        other = copy(self)
        other._results = max(results, self._results)
        return other

    def _server(self, tool: SearchTool) -> Server:
        if id(tool) not in self._servers:
            self._servers[id(tool)] = Server(tool, self._patience_s, self._rest_s)
            weakref.finalize(tool, self._servers.pop, id(tool), None).atexit = False
        return self._servers[id(tool)]

    async def reach(self) -> None:
        """Sees once, before money is spent, that there is a server to search and that none refuses us.

        Raises ConfigError for a key that is refused, ToolError where no tool's server is there. One that is not there
        beside others that are is not asked again, and its searches fail.
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
        """Why we give up on the tool's server; None if we do not. Raises ConfigError."""
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
                raise  # else it is slow to say hello, and may still answer
        except FactloopError:
            raise
        except Exception as error:  # a user's own tool may raise anything
            said = f"{tool.name}: its server could not be looked at ({type(error).__name__})"
            raise ToolError(said, tool=tool.name) from error

    @property
    def is_given_up(self) -> bool:
        """Whether no tool's server is waited for any longer."""
        return all(self._server(tool).patience.is_given_up for tool in self.tools)

    def in_turn(self, name: str | None, round_number: int) -> tuple[SearchTool, ...]:
        """All tools, the one of that name first; without a known name they take turns by round."""
        names = [tool.name for tool in self.tools]
        first = names.index(name) if name in names else round_number % len(names)
        return (*self.tools[first:], *self.tools[:first])

    async def search(self, tool: SearchTool, query: str, *, stage: str, meter: UsageMeter) -> SearchAnswer:
        """The hits for one query. May cost money. Raises ToolError, ToolTimeout, BudgetExceeded, ConfigError."""
        query = " ".join(query.split())
        asked = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": tool.name, "factloop.stage": stage}
        with span(f"retrieval {tool.name}", asked, calls=True) as traced:
            traced.say("gen_ai.retrieval.query.text", lambda: query)
            call = SearchCall(self, tool, query, stage, meter, self.key(tool, query))
            answers = self._answers if tool.cacheable else self._for_one_check
            value, came_by = await meter.allowance.in_time(lambda: answers.once(call))
            found = _decode(value)
            traced.set({"factloop.answered_by": BY[came_by], "factloop.n_hits": len(found.hits)})
            return found

    async def ask(self, tool: SearchTool, query: str, *, stage: str, meter: UsageMeter) -> Value:
        """Asks the tool, past the store of answers. Raises as `search`."""
        if tool.is_local:
            return await self._search_here(tool, query, stage, meter)
        server = self._server(tool)
        attempt = partial(self._attempt, tool, query, stage, meter)
        try:
            return await server.patience.wait_for(lambda: self._retry.run(attempt, self._rng))
        except ToolError as error:
            if is_wrong_set_up(error):
                await server.first_answer.raise_blamed(error)
            raise  # out of reach, it is one source of several, and claims that miss it are unscored

    def key(self, tool: SearchTool, query: str) -> str:
        """Equal for searches to which the same hits would do."""
        request = ["search", tool.name, tool.identity, query, self._results]
        return hashlib.sha256(json.dumps(request).encode("utf-8", "surrogatepass")).hexdigest()

    def recorded_as(self, tool: SearchTool, query: str) -> TapeRequest | None:
        """A search as a tape has it; None for a tool that is local and repeatable."""
        if tool.recorded_as is None:
            return None
        exact = [tool.name, tool.recorded_as, query, self._results]
        return TapeRequest("search", exact, {"tool": tool.name, "query": query, "results": self._results})

    async def _search_here(self, tool: SearchTool, query: str, stage: str, meter: UsageMeter) -> Value:
        """Searches once, without what stands between us and a server: it took a third of a search of few passages."""
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
            started = time.perf_counter()
            try:
                with server.patience.asking(), server.first_answer.awaited():
                    hits = await self._paced_hits(tool, query, ticket)
            except (ToolTimeout, asyncio.CancelledError) as error:  # it was sent, and is paid for without us
                reservation.spent_usd = of_check.spent_usd = price or 0.0
                meter.given_up(stage, CallCost(0, 0, approximate=False, cost_usd=price), time.perf_counter() - started)
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
        """What the tool finds. A user's own may raise anything, `TimeoutError` too, and give anything."""
        try:
            found = await tool.asearch(query, self._results)
        except FactloopError:
            raise
        except Exception as error:
            raise ToolError(f"{tool.name}: the search failed ({type(error).__name__})", tool=tool.name) from error
        if not isinstance(found, list) or not all(isinstance(hit, SearchHit) for hit in found):
            raise ToolError(f"{tool.name}: the search did not return a list of SearchHit", tool=tool.name)
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
    """A query on its way to a tool, as a store of answers knows it."""

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

    def price(self, value: Value) -> tuple[int, float]:  # noqa: ARG002 - one query costs as much as another
        return 0, self.tool.usd_per_query or 0.0

    def charge_earlier(self, value: Value) -> None:  # noqa: ARG002 - one query costs as much as another
        self.meter.searched(self.stage, 0.0, self.tool.usd_per_query)

    def read(self, value: Mapping[str, Any]) -> SearchAnswer:
        return _decode(value)


def _is_answered(error: FactloopError) -> bool:
    """Whether the server answered by a good status, which providers charge for, whatever the answer is worth."""
    return isinstance(error, ToolError) and error.status is not None and 200 <= error.status < 300


def _decode(value: Mapping[str, Any]) -> SearchAnswer:
    return SearchAnswer(
        query=value["query"],
        hits=tuple(SearchHit.model_validate(hit) for hit in value["hits"]),
        retrieved_at=datetime.fromisoformat(value["retrieved_at"]),
    )
