"""One retry policy for models and searches: bounded, jittered, and obedient to the delay a server asks for."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from factloop.core.errors import FactloopError, ToolError, ToolTimeout


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a `Retry-After` header, given in seconds or as an HTTP date; None where it says neither."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):  # a zone or a year that no date can have
            return None
        if moment.tzinfo is None:  # "-0000" means UTC without a known local zone
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how patiently a failed call is made again.

    Refusals for rate or load are the server's way of pacing us, not failures: they do not use up `attempts`.
    """

    attempts: int = 5
    timeout_attempts: int = 3
    """Give up on a call after timing out this often: each attempt costs a whole timeout."""
    base_s: float = 0.25
    longest_s: float = 20.0
    patience_s: float = 600.0
    """Seconds that one call waits between its attempts, in all. A call fails at once when its server asks for more."""

    async def run(self, call: Callable[[], Awaitable[T]], rng: random.Random) -> T:
        """The call's result, or its last error once retrying cannot help or the policy is exhausted."""
        try:
            return await call()  # nearly always all there is to it, at a fifth of what tenacity would cost
        except FactloopError as error:
            if not error.retryable:
                raise
            return await self._again(call, error, rng)

    async def _again(self, call: Callable[[], Awaitable[T]], first: FactloopError, rng: random.Random) -> T:
        """Goes on after a first attempt that failed with `first`."""
        tally = _Tally(self)
        failures = [first]

        def after(state: RetryCallState) -> None:
            tally.count(_error(state))

        def wait(state: RetryCallState) -> float:
            return tally.delay_s(_error(state), rng)

        def stop(state: RetryCallState) -> bool:
            return tally.exhausted(state.upcoming_sleep)

        def retryable(error: BaseException) -> bool:
            return isinstance(error, FactloopError) and error.retryable

        retrying = AsyncRetrying(retry=retry_if_exception(retryable), after=after, wait=wait, stop=stop, reraise=True)
        async for attempt in retrying:
            with attempt:
                if failures:
                    raise failures.pop()
                result = await call()
        return result


class _Tally:
    """How often one call has failed so far, kinds apart, and how long it has waited."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._failures = self._timeouts = self._refusals = 0
        self._waited_s = 0.0

    def count(self, error: BaseException) -> None:
        if _is_refusal(error):
            self._refusals += 1
        else:
            self._failures += 1
            self._timeouts += isinstance(error, ToolTimeout)

    def delay_s(self, error: BaseException, rng: random.Random) -> float:
        """Seconds to wait before the next attempt."""
        doublings = min((self._refusals if _is_refusal(error) else self._failures) - 1, 16)
        backoff = min(self._policy.longest_s, self._policy.base_s * 2.0**doublings)
        asked = error.retry_after_s if isinstance(error, ToolError) else None
        if asked is None:
            return rng.uniform(0.5, 1.0) * backoff
        # All refused calls wait at least as asked; the jitter keeps them from coming back at once.
        return asked + rng.uniform(0.0, 0.1) * max(asked, backoff)

    def exhausted(self, next_delay_s: float) -> bool:
        policy = self._policy
        self._waited_s += next_delay_s
        tried = self._failures >= policy.attempts or self._timeouts >= policy.timeout_attempts
        return tried or self._waited_s > policy.patience_s


def _is_refusal(error: BaseException) -> bool:
    return isinstance(error, ToolError) and error.wants_pause


def _error(state: RetryCallState) -> BaseException:
    error = state.outcome.exception() if state.outcome is not None else None
    assert error is not None  # tenacity asks these questions only after a failure
    return error
