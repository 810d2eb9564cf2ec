"""Stores of answers: what was asked of a model or a search is asked once, and charged as the store accounts for it.

The gateways put every call to a store. That of a run (`RunAnswers`) stands on the cache that runs share, on the run's
journal or on a tape; an experiment brings one of its own, which its variants share.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, Protocol

from factloop.tools.calls.cache import AnswersKept, MemoryAnswers, StoredAnswer
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.tape import Tape, TapeRequest
from factloop.tools.calls.together import SingleFlight

Value = dict[str, Any]
"""An answer as JSON has it."""
AnsweredBy = Literal["call", "cache", "identical_call"]


class Call(Protocol):
    """One question to a model or a search: how it is asked, what its answer costs, and who pays."""

    @property
    def key(self) -> str:
        """Equal for calls to which the same answer would do."""
        ...

    @property
    def stage(self) -> str: ...

    @property
    def meter(self) -> UsageMeter:
        """The account of the one who asks."""
        ...

    @property
    def keep_s(self) -> float | None:
        """Seconds for which an answer is good in a cache that runs share; None: as long as it is kept."""
        ...

    @property
    def recorded_as(self) -> TapeRequest | None:
        """The call as a tape has it; None for one that no tape keeps."""
        ...

    async def make(self, meter: UsageMeter) -> Value:
        """The answer, asked for and charged to `meter`. May cost money. Raises FactloopError."""
        ...

    def price(self, value: Value) -> tuple[int, float]:
        """Model calls and dollars paid for an answer."""
        ...

    def charge_earlier(self, value: Value) -> None:
        """Charges the account with an answer that an earlier attempt at the same run paid for."""
        ...

    def read(self, value: Mapping[str, Any]) -> object:
        """Raises KeyError, TypeError, ValueError where the value is no such answer."""
        ...


class Answers(Protocol):
    """A store of answers. Lives in one event loop."""

    async def once(self, call: Call) -> tuple[Value, AnsweredBy]:
        """The answer: the one kept, that of an identical call under way, or that of this call, which is kept.

        The account of the one who asks is charged. Raises as `Call.make`, and ConfigError.
        """
        ...

    async def forget(self, key: str) -> None:
        """Drops an answer that led nowhere, unless all that was paid for is kept here."""
        ...

    def for_one_check(self) -> Answers:
        """A store for answers that only this check needs; a journal returns itself, since it keeps everything."""
        ...


class RunAnswers:
    """The answers of one run. What is kept is free; of what an earlier attempt paid for each is charged once."""

    def __init__(self, kept: AnswersKept, *, journal: bool = False, tape: Tape | None = None) -> None:
        """With `journal`, `kept` is the record of one run: no answer ages there, none is forgotten, and what an earlier
        attempt paid for counts as paid by this run. In a cache shared by runs replies that led nowhere are forgotten,
        as another try may go better.

        A `tape` is asked before the call is made, and keeps what that answers.
        """
        self._kept, self._journal, self._tape = kept, journal, tape
        self._flights: SingleFlight[Value] = SingleFlight()
        self._charged: set[str] = set()

    async def once(self, call: Call) -> tuple[Value, AnsweredBy]:
        newer_than_s = None if self._journal else call.keep_s
        kept = await self._kept.aside(partial(self._kept.get, call.key, newer_than_s=newer_than_s))
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
        value = await call.make(call.meter)
        calls, usd = call.price(value)
        await self._kept.aside(partial(self._kept.put, call.key, value, calls=calls, usd=usd))
        return value

    def _charge(self, call: Call, kept: StoredAnswer) -> None:
        if self._journal and kept.earlier and call.key not in self._charged:
            self._charged.add(call.key)
            call.charge_earlier(kept.value)
        else:
            call.meter.hit(call.stage)

    async def forget(self, key: str) -> None:
        if not self._journal:
            await self._kept.aside(partial(self._kept.drop, key))

    def for_one_check(self) -> Answers:
        return self if self._journal else RunAnswers(MemoryAnswers(), tape=self._tape)
