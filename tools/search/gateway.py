"""The one door to the search tools: cached, paced, retried, timed out and metered, identical queries asked once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
import weakref
from collections.abc import Awaitable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from factloop.core.errors import FactloopError, ToolError, ToolTimeout
from factloop.tools.calls.blame import OUT_OF_REACH, is_out_of_reach, is_wrong_set_up, raise_blamed
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache, Kept
from factloop.tools.calls.limiter import Limiter, Slot
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.patience import PATIENCE_S, Patience
from factloop.tools.calls.retry import TOO_MANY_REQUESTS, RetryPolicy
from factloop.tools.calls.single_flight import SingleFlight
from factloop.tools.calls.tape import Tape, TapeRequest
from factloop.tools.calls.together import together
from factloop.tools.calls.tracing import current_span, span
from factloop.tools.models.prices import search_price
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool

T = TypeVar("T")

KEEP_S = 24 * 3600.0
"""Age at which a web search in the shared cache is asked again; within one run directory answers never age."""


@dataclass(frozen=True)
class Found:
    """The answer to one query."""

    query: str
    hits: tuple[SearchHit, ...]
    retrieved_at: datetime


class Server:
    """What stands behind one tool: its pace, the patience with it, and whether it ever answered."""

    def __init__(self, tool: SearchTool, patience_s: float) -> None:
        self.limiter = Limiter(concurrency=tool.concurrency_limit)
        self.patience = Patience(tool.name, patience_s)
        self.is_looked_at = self.has_answered = False


class _Memory:
    """Answers of tools that are not worth keeping on disk: within a run even these are asked once."""

    def __init__(self) -> None:
        self._answers: dict[str, dict[str, Any]] = {}
        self.flights: SingleFlight[dict[str, Any]] = SingleFlight()
        """Their own too: two retrievers of one kind look alike, and must not get each other's hits."""

    def get(self, key: str, *, newer_than_s: float | None = None) -> Kept | None:  # noqa: ARG002 - as CallCache has it
        return Kept(self._answers[key], earlier=False) if key in self._answers else None

    def put(self, key: str, value: dict[str, Any], *, usd: float = 0.0) -> None:  # noqa: ARG002 - as CallCache has it
        self._answers[key] = value


class SearchGateway:
    """Answers queries from the search tools of a run. Shared by all responses under check; lives in one event loop."""

    def __init__(
        self,
        tools: Sequence[SearchTool],
        *,
        results: int,
        cache: CallCache,
        retry: RetryPolicy,
        timeout_s: float,
        rng: random.Random,
        journal: bool = False,
        budget: Budget | None = None,
        tape: Tape | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """A `tape` is asked before the tools, and keeps what they find, but for local ones.

        `patience_s` is how long a tool's server may accept nothing before it is given up.

        `budget` is charged with what searches cost; those of a tool whose price is unknown count as free.
        """
        self.tools = tuple(tools)
        self._results = results
        self._cache, self._retry = cache, retry
        self._budget, self._tape = budget or Budget(), tape
        self._timeout_s, self._patience_s, self._rng, self._journal = timeout_s, patience_s, rng, journal
        self._servers: dict[int, Server] = {}
        """By the tool's id, for as long as the tool lives: a tool has one pace, whichever gateways lead to it."""
        self._memory = _Memory()
        self._flights: SingleFlight[dict[str, Any]] = SingleFlight()
        self._looks: SingleFlight[ToolError | None] = SingleFlight()
        self._replayed: set[str] = set()

    def over(self, tools: Sequence[SearchTool]) -> SearchGateway:
        """A gateway to other tools that shares cache, budget, pace and flights with this one; what it finds in tools
        that are not worth keeping is forgotten with it."""
        other = copy(self)
        other.tools = tuple(tools)
        other._memory = _Memory()
        return other

    def _server(self, tool: SearchTool) -> Server:
        if id(tool) not in self._servers:
            self._servers[id(tool)] = Server(tool, self._patience_s)
            weakref.finalize(tool, self._servers.pop, id(tool), None).atexit = False
        return self._servers[id(tool)]

    async def reach(self) -> None:
        """Sees once, before money is spent, that there is a server to search and that none refuses us.

        Raises ConfigError for a key that is refused, ToolError where no tool's server is there. One that is not there
        beside others that are is given up, and its searches fail.
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
        """Why the tool's server is given up, if it is. Raises ConfigError."""
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

    @property
    def is_given_up(self) -> bool:
        """Whether no tool's server is waited for any longer."""
        return all(self._server(tool).patience.is_given_up for tool in self.tools)

    def in_turn(self, name: str | None, round_number: int) -> tuple[SearchTool, ...]:
        """All tools, the one of that name first; without a known name they take turns by round."""
        names = [tool.name for tool in self.tools]
        first = names.index(name) if name in names else round_number % len(names)
        return (*self.tools[first:], *self.tools[:first])

    async def search(self, tool: SearchTool, query: str, *, stage: str, meter: UsageMeter) -> Found:
        """The hits for one query. May cost money. Raises ToolError, ToolTimeout, BudgetExceeded, ConfigError."""
        query = " ".join(query.split())
        asked = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": tool.name, "factloop.stage": stage}
        with span(f"retrieval {tool.name}", asked, calls=True) as traced:
            traced.say("gen_ai.retrieval.query.text", lambda: query)
            found, came_by = await meter.allowance.in_time(lambda: self._found(tool, query, stage, meter))
            traced.set({"factloop.answered_by": came_by, "factloop.n_hits": len(found.hits)})
            return found

    async def _found(self, tool: SearchTool, query: str, stage: str, meter: UsageMeter) -> tuple[Found, str]:
        """The hits, and where they are from."""
        key = self._key(tool, query)
        newer_than_s = None if self._journal else KEEP_S
        cache: CallCache | _Memory = self._cache if tool.cacheable or self._journal else self._memory
        kept = cache.get(key, newer_than_s=newer_than_s)
        if kept is not None:
            if self._journal and kept.earlier and key not in self._replayed:
                self._replayed.add(key)
                meter.searched(stage, 0.0, search_price(tool.name))
            else:
                meter.hit(stage)
            return _decode(kept.value), "cache"

        server, attempt = self._server(tool), partial(self._attempt, tool, query, stage, meter)

        async def ask() -> dict[str, Any]:
            try:
                value = await server.patience.wait_for(lambda: self._retry.run(attempt, self._rng))
            except ToolError as error:
                if is_wrong_set_up(error):
                    raise_blamed(error, answered=server.has_answered)
                raise  # out of reach, it is one source of several, and what it is missing for is not judged
            cache.put(key, value, usd=search_price(tool.name) or 0.0)
            return value

        async def answer() -> dict[str, Any]:
            if self._tape is None or tool.recorded_as is None:
                return await ask()
            taken, was_kept = await self._tape.take(self._asked(tool, query), ask, read=_decode)
            if was_kept:
                meter.hit(stage)
            return dict(taken)

        flights = self._flights if tool.cacheable else self._memory.flights
        value, shared = await flights.do(key, answer)
        if shared:
            meter.hit(stage)
        return _decode(value), "identical_call" if shared else "search"

    def _key(self, tool: SearchTool, query: str) -> str:
        request = ["search", tool.name, tool.identity, query, self._results]
        return hashlib.sha256(json.dumps(request).encode("utf-8", "surrogatepass")).hexdigest()

    def _asked(self, tool: SearchTool, query: str) -> TapeRequest:
        exact = [tool.name, tool.recorded_as, query, self._results]
        return TapeRequest("search", exact, {"tool": tool.name, "query": query, "results": self._results})

    async def _attempt(self, tool: SearchTool, query: str, stage: str, meter: UsageMeter) -> dict[str, Any]:
        server, price = self._server(tool), search_price(tool.name)
        async with (
            meter.allowance.reserve(price or 0.0, calls=0) as of_check,
            self._budget.reserve(price or 0.0, calls=0) as reservation,
            server.limiter.slot() as ticket,
        ):
            started = time.perf_counter()
            try:
                with server.patience.asking():
                    hits = await self._hits(tool, query, ticket)
            except FactloopError as error:
                meter.failed(stage, time.perf_counter() - started)
                current_span().failed(error)
                raise
            server.has_answered = True
            reservation.spent_usd = of_check.spent_usd = price or 0.0
            meter.searched(stage, time.perf_counter() - started, price)
            return {
                "query": query,
                "hits": [hit.model_dump(mode="json") for hit in hits[: self._results]],
                "retrieved_at": datetime.now(UTC).isoformat(timespec="seconds"),
            }

    async def _hits(self, tool: SearchTool, query: str, ticket: Slot) -> list[SearchHit]:
        try:
            return await self._in_time(tool.asearch(query, self._results), tool, self._timeout_s)
        except ToolError as error:
            if error.status == TOO_MANY_REQUESTS:
                self._server(tool).limiter.refused(ticket, error.retry_after_s)
            raise
        except FactloopError:
            raise
        except Exception as error:  # a user's own tool may raise anything
            raise ToolError(f"{tool.name}: the search failed ({type(error).__name__})", tool=tool.name) from error

    @staticmethod
    async def _in_time(work: Awaitable[T], tool: SearchTool, timeout_s: float) -> T:
        try:
            async with asyncio.timeout(timeout_s):
                return await work
        except TimeoutError as error:
            raise ToolTimeout(tool=tool.name, timeout_s=timeout_s) from error


def _decode(value: dict[str, Any]) -> Found:
    return Found(
        query=value["query"],
        hits=tuple(SearchHit.model_validate(hit) for hit in value["hits"]),
        retrieved_at=datetime.fromisoformat(value["retrieved_at"]),
    )
