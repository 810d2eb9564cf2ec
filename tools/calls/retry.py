"""The retry policy for models and searches, with limits, jitter, and the delays that servers ask for."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from factloop.core.errors import FactloopError, ToolError, ToolTimeout


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Returns how many seconds a `Retry-After` header (number or HTTP date) asks to wait, or None if it is invalid."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):  # an impossible time zone or year
            return None
        if moment.tzinfo is None:  # "-0000" means UTC without a known local zone
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How often a failed call is retried, and after what delays.

    A call rejected because of a rate limit or overload is retried without using up any of the `attempts`.
    """

    attempts: int = 5
    timeout_attempts: int = 3
    """Number of timeouts after which a call fails. It is small, because each attempt takes the full timeout."""
    base_s: float = 0.25
    longest_s: float = 20.0
    patience_s: float = 600.0
    """Maximum total seconds between attempts. A call fails immediately if its server asks for more."""

    async def run(self, call: Callable[[], Awaitable[T]], rng: random.Random) -> T:
        """Returns the result of the call. Raises the last error if retrying cannot help or no attempts are left."""
        tally = _Tally(self)
        while True:
            try:
                return await call()
            except FactloopError as error:
                if not error.retryable:
                    raise
                delay_s = tally.next_delay_s(error, rng)
                if tally.is_exhausted:
                    raise
            await asyncio.sleep(delay_s)


class _Tally:
    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._failures = self._timeouts = self._refusals = 0
        self._waited_s = 0.0

    def next_delay_s(self, error: FactloopError, rng: random.Random) -> float:
        """Counts a failure and returns the seconds to wait before the next attempt."""
        policy = self._policy
        is_refusal = isinstance(error, ToolError) and error.wants_pause
        self._refusals += is_refusal
        self._failures += not is_refusal
        self._timeouts += isinstance(error, ToolTimeout)
        doublings = min((self._refusals if is_refusal else self._failures) - 1, 16)
        backoff = min(policy.longest_s, policy.base_s * 2.0**doublings)
        asked = error.retry_after_s if isinstance(error, ToolError) else None
        if asked is None:
            delay_s = rng.uniform(0.5, 1.0) * backoff
        else:  # rejected calls wait at least as long as the server asks, and a random part spreads them out
            delay_s = asked + rng.uniform(0.0, 0.1) * max(asked, backoff)
        self._waited_s += delay_s
        return delay_s

    @property
    def is_exhausted(self) -> bool:
        policy = self._policy
        tried = self._failures >= policy.attempts or self._timeouts >= policy.timeout_attempts
        return tried or self._waited_s > policy.patience_s
