"""The one door to the search tools: cached, paced, retried, timed out and metered, identical queries asked once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
import weakref
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from factloop.errors import FactloopError, ToolError, ToolTimeout
from factloop.tools.calls.blame import raise_blamed
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache, Kept
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import TOO_MANY_REQUESTS, RetryPolicy
from factloop.tools.calls.single_flight import SingleFlight
from factloop.tools.calls.tape import Asked, Tape
from factloop.tools.calls.tracing import current_span, span
from factloop.tools.models.prices import search_price
from factloop.tools.search.base import SearchHit, SearchTool

REACH_S = 10.0
"""For how long a server is waited for that has not been asked anything yet."""
KEEP_S = 24 * 3600.0
"""Age at which a web search in the shared cache is asked again; within one run directory answers never age."""


@dataclass(frozen=True)
class Found:
    """The answer to one query."""

    query: str
    hits: tuple[SearchHit, ...]
    retrieved_at: datetime


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
    ) -> None:
        """A `tape` is asked before the tools, and keeps what they find, but for local ones.

        `budget` is charged with what searches cost; those of a tool whose price is unknown count as free.
        """
        self.tools = tuple(tools)
        self._results = results
        self._cache, self._retry = cache, retry
        self._budget, self._tape = budget or Budget(), tape
        self._timeout_s, self._rng, self._journal = timeout_s, rng, journal
        self._limiters: dict[int, Limiter] = {}
        """By the tool's id, for as long as the tool lives: a tool has one pace, whichever gateways lead to it."""
        self._memory = _Memory()
        self._flights: SingleFlight[dict[str, Any]] = SingleFlight()
        self._answered: set[str] = set()
        self._reaching: SingleFlight[None] = SingleFlight()
        self._reached = False
        self._replayed: set[str] = set()

    def over(self, tools: Sequence[SearchTool]) -> SearchGateway:
        """A gateway to other tools that shares cache, budget, pace and flights with this one; what it finds in tools
        that are not worth keeping is forgotten with it."""
        other = copy(self)
        other.tools = tuple(tools)
        other._memory, other._reached = _Memory(), False
        return other

    def _limiter(self, tool: SearchTool) -> Limiter:
        if id(tool) not in self._limiters:
            self._limiters[id(tool)] = Limiter(concurrency=tool.concurrency_limit)
            weakref.finalize(tool, self._limiters.pop, id(tool), None).atexit = False
        return self._limiters[id(tool)]

    async def reach(self) -> None:
        """Sees once that every tool's server answers, before money is spent. Raises ConfigError, ToolTimeout."""
        if not self._reached:
            await self._reaching.do("all", self._reach_all)
            self._reached = True

    async def _reach_all(self) -> None:
        async def reach(tool: SearchTool) -> None:
            async with asyncio.timeout(REACH_S):
                await asyncio.to_thread(tool.reach)

        try:
            await asyncio.gather(*(self._retry.run(partial(reach, tool), self._rng) for tool in self.tools))
        except (ToolTimeout, TimeoutError):
            return  # a server may be slow to say hello and still answer
        except ToolError as error:
            raise_blamed(error, answered=False)

    def pick(self, name: str | None, round_number: int) -> SearchTool:
        """The tool of that name; without a known name the tools take turns by round."""
        named = [tool for tool in self.tools if tool.name == name]
        return named[0] if named else self.tools[round_number % len(self.tools)]

    async def search(self, tool: SearchTool, query: str, *, stage: str, meter: UsageMeter) -> Found:
        """The hits for one query. May cost money. Raises ToolError, ToolTimeout, BudgetExceeded, ConfigError."""
        query = " ".join(query.split())
        asked = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": tool.name, "factloop.stage": stage}
        with span(f"retrieval {tool.name}", asked, calls=True) as traced:
            traced.say("gen_ai.retrieval.query.text", lambda: query)
            found, came_by = await self._found(tool, query, stage, meter)
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

        async def ask() -> dict[str, Any]:
            try:
                value = await self._retry.run(lambda: self._attempt(tool, query, stage, meter), self._rng)
            except ToolError as error:
                raise_blamed(error, answered=tool.name in self._answered)
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

    def _asked(self, tool: SearchTool, query: str) -> Asked:
        exact = [tool.name, tool.recorded_as, query, self._results]
        return Asked("search", exact, {"tool": tool.name, "query": query, "results": self._results})

    async def _attempt(self, tool: SearchTool, query: str, stage: str, meter: UsageMeter) -> dict[str, Any]:
        limiter, price = self._limiter(tool), search_price(tool.name)
        async with self._budget.reserve(price or 0.0, calls=0) as reservation, limiter.slot() as ticket:
            started = time.perf_counter()
            try:
                async with asyncio.timeout(self._timeout_s):
                    hits = await tool.asearch(query, self._results)
            except TimeoutError as error:
                meter.failed(stage, time.perf_counter() - started)
                timed_out = ToolTimeout(tool=tool.name, timeout_s=self._timeout_s)
                current_span().failed(timed_out)
                raise timed_out from error
            except FactloopError as error:
                meter.failed(stage, time.perf_counter() - started)
                current_span().failed(error)
                if isinstance(error, ToolError) and error.status == TOO_MANY_REQUESTS:
                    limiter.refused(ticket, error.retry_after_s)
                raise
            except Exception as error:  # a user's own tool may raise anything
                meter.failed(stage, time.perf_counter() - started)
                failed = ToolError(f"{tool.name}: the search failed ({type(error).__name__})", tool=tool.name)
                current_span().failed(failed)
                raise failed from error
            self._answered.add(tool.name)
            reservation.spent_usd = price or 0.0
            meter.searched(stage, time.perf_counter() - started, price)
            return {
                "query": query,
                "hits": [hit.model_dump(mode="json") for hit in hits[: self._results]],
                "retrieved_at": datetime.now(UTC).isoformat(timespec="seconds"),
            }


def _decode(value: dict[str, Any]) -> Found:
    return Found(
        query=value["query"],
        hits=tuple(SearchHit.model_validate(hit) for hit in value["hits"]),
        retrieved_at=datetime.fromisoformat(value["retrieved_at"]),
    )
