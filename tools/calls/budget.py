"""Enforces the user's limits on calls and cost."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from factloop.core.errors import BudgetExceeded, DeadlineExceeded


class Reservation:
    """Part of the budget, reserved for one call. The caller sets `spent_usd` to the actual cost."""

    spent_usd = 0.0
    is_unused = False
    """Whether the call was never sent, so that it does not count."""


class Budget:
    """Limits the number and cost of concurrent calls.

    Each call first reserves its maximum cost. If too little is left, it waits for calls in progress, because most cost
    less than was reserved for them. The budget counts as exhausted only when no calls are in progress.
    """

    def __init__(self, *, max_calls: int | None = None, max_usd: float | None = None, of: str = "") -> None:
        """`of` names what the budget applies to in error messages. Leave it empty for the whole run."""
        self._of = of
        self._max_calls, self._max_usd = max_calls, max_usd
        self._calls = 0
        self._spent_usd = self._reserved_usd = 0.0
        self._in_flight = 0
        self._settled = asyncio.Event()

    @property
    def limits_money(self) -> bool:
        return self._max_usd is not None

    def lasts_for(self, calls: int) -> bool:
        """Whether the budget allows `calls` more calls at the average cost so far."""
        if not self._has_calls(calls):
            return False
        each = (self._spent_usd + self._reserved_usd) / self._calls if self._calls else math.inf
        return self._fits(calls * each) if self.limits_money else True

    def note_earlier(self, calls: int, usd: float) -> None:
        self._calls += calls
        self._spent_usd += usd

    @asynccontextmanager
    async def reserve(self, worst_usd: float, *, calls: int = 1) -> AsyncIterator[Reservation]:
        """Reserves a call that costs at most `worst_usd`. Raises BudgetExceeded if too little is left.

        Searches count only towards the limit on cost: pass `calls=0`.
        """
        if self._max_calls is None and self._max_usd is None:
            yield Reservation()
            return
        while self._has_calls(calls) and not self._fits(worst_usd) and self._in_flight:
            await self._settled.wait()
        if not self._has_calls(calls):
            raise BudgetExceeded(f"{self._max_calls} call{'s' * (self._max_calls != 1)}", self._of)
        if not self._fits(worst_usd):
            raise BudgetExceeded(f"{self._max_usd:g} USD", self._of)
        self._calls += calls
        self._in_flight += 1
        self._reserved_usd += worst_usd
        reservation = Reservation()
        try:
            yield reservation
        finally:
            self._in_flight -= 1
            self._calls -= calls if reservation.is_unused else 0
            # Sums of many small prices are subject to rounding errors.
            self._reserved_usd = self._reserved_usd - worst_usd if self._in_flight else 0.0
            self._spent_usd += reservation.spent_usd
            self._settled.set()  # wakes all waiting calls; nothing is awaited here, so no cancellation can prevent it
            self._settled = asyncio.Event()

    def _has_calls(self, calls: int) -> bool:
        return calls == 0 or self._max_calls is None or self._calls + calls <= self._max_calls

    def _fits(self, worst_usd: float) -> bool:
        return self._max_usd is None or self._spent_usd + self._reserved_usd + worst_usd <= self._max_usd


T = TypeVar("T")
LEAST_ANSWERS = 20


def is_of_one_check(error: Exception) -> bool:
    return isinstance(error, DeadlineExceeded) or (isinstance(error, BudgetExceeded) and error.of != "")


class Allowance:
    """The remaining limits of one check, by default none. It is bound to one event loop."""

    def __init__(
        self,
        *,
        deadline_s: float | None = None,
        begun_at: float | None = None,
        max_calls: int | None = None,
        max_usd: float | None = None,
        of: str = "this check",
    ) -> None:
        """The deadline is measured from `begun_at` (`time.monotonic()`) or now. `of` names the check in messages."""
        self.max_unreadable = 1.0
        """Maximum proportion of a model's answers that may be unreadable, once there are `LEAST_ANSWERS`."""
        self._n_answers, self._n_unreadable = Counter[str](), Counter[str]()
        self._deadline_s = math.inf if deadline_s is None else deadline_s
        begun_at = time.monotonic() if begun_at is None else begun_at
        self._ends_at = begun_at + self._deadline_s
        self._budget = Budget(max_calls=max_calls, max_usd=max_usd, of=of)

    @property
    def limits_money(self) -> bool:
        return self._budget.limits_money

    @asynccontextmanager
    async def reserve(self, worst_usd: float, *, calls: int = 1) -> AsyncIterator[Reservation]:
        async with self._budget.reserve(worst_usd, calls=calls) as reservation:
            yield reservation

    async def in_time(self, work: Callable[[], Awaitable[T]]) -> T:
        """Returns the result of `work`. Cancels it at the deadline, and starts nothing after the deadline."""
        if self._ends_at == math.inf:
            return await work()
        self.refuse_late()
        try:
            async with asyncio.timeout(self._ends_at - time.monotonic()) as limit:
                return await work()
        except TimeoutError as error:
            if limit.expired():
                raise DeadlineExceeded(self._deadline_s) from error
            raise

    def note_answer(self, model: str, *, is_readable: bool) -> None:
        self._n_answers[model] += 1
        self._n_unreadable[model] += not is_readable

    def unreadable(self, model: str) -> str | None:
        """Returns a message if the model gets no more requests because too many answers were unreadable, else None."""
        n_answers, n_unreadable = self._n_answers[model], self._n_unreadable[model]
        if n_answers < LEAST_ANSWERS or n_unreadable <= self.max_unreadable * n_answers:
            return None
        figures = f"{n_unreadable} of {n_answers} answers could not be read"
        return f"{figures}, so it gets no more requests (max_unreadable = {self.max_unreadable:g})"

    @property
    def all_unreadable(self) -> list[str]:
        return [f"{model}: {said}" for model in self._n_answers if (said := self.unreadable(model)) is not None]

    @property
    def is_late(self) -> bool:
        return time.monotonic() >= self._ends_at

    def refuse_late(self) -> None:
        if self.is_late:
            raise DeadlineExceeded(self._deadline_s)
