"""Stores the answers of models and searches, so that each request is made and paid for only once.

Gateways make every call through such a store. The store of a run (`RunAnswers`) uses the shared cache, the run's
journal or a tape. In an experiment, all variants share one store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Protocol

from factloop.tools.calls.cache import AnswersKept, CallCache, MemoryAnswers, StoredAnswer
from factloop.tools.calls.meter import CallCost, UsageMeter
from factloop.tools.calls.tape import Tape, TapeRequest
from factloop.tools.calls.together import SingleFlight

Value = dict[str, Any]
AnsweredBy = Literal["call", "cache", "identical_call"]


class Call(Protocol):
    @property
    def key(self) -> str:
        """The cache key, shared by all calls that can share an answer."""
        ...

    @property
    def stage(self) -> str: ...

    @property
    def meter(self) -> UsageMeter: ...

    @property
    def keep_s(self) -> float | None:
        """How many seconds a cached answer stays valid, or None if it never expires."""
        ...

    @property
    def recorded_as(self) -> TapeRequest | None:
        """The request as recorded on a tape, or None if it is not recorded."""
        ...

    async def make(self, meter: UsageMeter) -> Value:
        """Makes the call and records its cost in `meter`. May cost money. Raises FactloopError."""
        ...

    def price(self, value: Value) -> tuple[int, float]: ...

    def charge_earlier(self, value: Value) -> None: ...

    def read(self, value: Mapping[str, Any]) -> object:
        """Raises KeyError, TypeError or ValueError if the value is not a valid answer."""
        ...


class Answers(Protocol):
    """A store of answers, bound to one event loop."""

    async def once(self, call: Call) -> tuple[Value, AnsweredBy]:
        """Returns the stored answer or that of an identical call in progress, or else makes the call.

        The cost is recorded in the caller's meter. Raises ConfigError, and anything that `Call.make` raises.
        """
        ...

    async def forget(self, key: str) -> None:
        """Deletes a useless answer, unless this store keeps every answer that was paid for."""
        ...

    def for_one_check(self) -> Answers:
        """Returns a store for answers that only one check needs.

        For a journal, returns `self`: a journal already stores every answer.
        """
        ...


class RunAnswers:
    """The answers of one run. Stored answers are free, but each answer in a journal is charged to the run once."""

    def __init__(
        self, kept: AnswersKept, *, journal: bool = False, tape: Tape | None = None, batched: bool = False
    ) -> None:
        """If `journal` is true, `kept` is the record of one run: its answers never expire and are never deleted, and
        the cost of earlier attempts counts towards this run. In a shared cache, useless replies are deleted, because
        another attempt may do better.

        A `tape` is consulted before a call is made, and records the answer. With `batched`, model calls are batched.
        """
        self._kept, self._journal, self._tape = kept, journal, tape
        self._record = kept if journal and isinstance(kept, CallCache) else None
        self._batched = batched
        self._flights: SingleFlight[Value] = SingleFlight()
        self._charged: set[str] = set()

    async def once(self, call: Call) -> tuple[Value, AnsweredBy]:
        newer_than_s = None if self._journal else call.keep_s
        for cost in () if self._record is None else self._record.take_lost(call.key):
            call.meter.given_up(call.stage, CallCost(**cost), 0.0)
            call.meter.note_earlier(1, cost["cost_usd"] or 0.0)
        kept = await self._kept.aside(partial(self._kept.get, call.key, newer_than_s=newer_than_s, read=call.read))
        if kept is not None:
            self._charge(call, kept)
            return kept.value, "cache"
        make = self._pay if self._tape is None else partial(self._take, self._tape)
        value, shared = await self._flights.do(call.key, partial(make, call))
        if shared:
            call.meter.hit(call.stage)
        return value, "identical_call" if shared else "call"

    async def _take(self, tape: Tape, call: Call) -> Value:
        asked = call.recorded_as
        if asked is None:
            return await self._pay(call)
        taken, was_kept = await tape.take(asked, partial(self._pay, call), read=call.read)
        if was_kept:
            call.meter.hit(call.stage)
        return dict(taken)

    async def _pay(self, call: Call) -> Value:
        value = await call.make(self._noting(call))
        calls, usd = call.price(value)
        await self._kept.aside(partial(self._kept.put, call.key, value, calls=calls, usd=usd))
        return value

    def _noting(self, call: Call) -> UsageMeter:
        """Batched requests are not recorded, because the next attempt fetches their answers and is charged for them."""
        record = self._record
        if record is None:
            return call.meter

        def sent(most: CallCost, calls: int) -> None:
            if not (self._batched and calls):
                record.note_sent(call.key, vars(most), calls=calls, usd=most.cost_usd or 0.0)

        return replace(call.meter, on_sent=sent, on_failed=partial(record.note_failed, call.key))

    def _charge(self, call: Call, kept: StoredAnswer) -> None:
        if self._journal and kept.earlier and call.key not in self._charged:
            self._charged.add(call.key)
            call.charge_earlier(kept.value)
            call.meter.note_earlier(*call.price(kept.value))
        else:
            call.meter.hit(call.stage)

    async def forget(self, key: str) -> None:
        if not self._journal:
            await self._kept.aside(partial(self._kept.drop, key))

    def for_one_check(self) -> Answers:
        return self if self._journal else RunAnswers(MemoryAnswers(), tape=self._tape)
