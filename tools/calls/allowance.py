"""The remaining time, calls and money of one check or correction, beside the limits of the whole run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from factloop.core.errors import BudgetExceeded, DeadlineExceeded
from factloop.tools.calls.budget import Budget, Reservation

T = TypeVar("T")


def is_of_one_check(error: Exception) -> bool:
    """Whether a call failed by what its own check may take, which says nothing of the same call for another check."""
    return isinstance(error, DeadlineExceeded) or (isinstance(error, BudgetExceeded) and error.of != "")


class Allowance:
    """The limits of one check, and what is left of them; without arguments, no limits. Lives in one event loop."""

    def __init__(
        self,
        *,
        deadline_s: float | None = None,
        begun_at: float | None = None,
        max_calls: int | None = None,
        max_usd: float | None = None,
        of: str = "this check",
    ) -> None:
        """The deadline counts from `begun_at` (`time.monotonic()`), else from now. `of` says whose it is."""
        self._deadline_s = deadline_s
        begun_at = time.monotonic() if begun_at is None else begun_at
        self._ends_at = None if deadline_s is None else begun_at + deadline_s
        self._budget = Budget(max_calls=max_calls, max_usd=max_usd, of=of)

    @property
    def limits_money(self) -> bool:
        return self._budget.limits_money

    @asynccontextmanager
    async def reserve(self, worst_usd: float, *, calls: int = 1) -> AsyncIterator[Reservation]:
        """Reserves as `Budget.reserve`."""
        async with self._budget.reserve(worst_usd, calls=calls) as reservation:
            yield reservation

    async def in_time(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`, which is not begun after the deadline, and stopped at it. Raises DeadlineExceeded."""
        if self._ends_at is None:
            return await work()
        self.refuse_late()
        try:
            async with asyncio.timeout(self._ends_at - time.monotonic()) as limit:
                return await work()
        except TimeoutError as error:
            if limit.expired():
                raise self._exceeded() from error
            raise

    def refuse_late(self) -> None:
        """Raises DeadlineExceeded after the deadline."""
        if self._ends_at is not None and time.monotonic() >= self._ends_at:
            raise self._exceeded()

    def _exceeded(self) -> DeadlineExceeded:
        assert self._deadline_s is not None
        return DeadlineExceeded(self._deadline_s)
