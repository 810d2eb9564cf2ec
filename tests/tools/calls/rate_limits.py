from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from factloop.core.errors import ToolError
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.retry import RetryPolicy


class RateLimit(Protocol):
    def wait_s(self, now: float) -> float: ...


class TokenBucket:
    def __init__(self, rate: float, capacity: float) -> None:
        self._rate, self._capacity = rate, capacity
        self._level, self._filled_at = capacity, 0.0

    def wait_s(self, now: float) -> float:
        self._level = min(self._capacity, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._level >= 1.0 - 1e-9:
            self._level -= 1.0
            return 0.0
        return (1.0 - self._level) / self._rate


class SlidingWindow:
    """At most `most` requests in any `window_s` seconds."""

    def __init__(self, most: int, window_s: float) -> None:
        self._most, self._window_s = most, window_s
        self._taken: deque[float] = deque()

    def wait_s(self, now: float) -> float:
        while self._taken and self._taken[0] <= now - self._window_s + 1e-9:
            self._taken.popleft()
        if len(self._taken) < self._most:
            self._taken.append(now)
            return 0.0
        return self._taken[0] + self._window_s - now


@dataclass
class Crowd:
    sent: int = 0
    refused: int = 0
    finished: int = 0
    took_s: float = 0.0

    @property
    def share_refused(self) -> float:
        return self.refused / self.sent


async def send_all(
    n_calls: int, limit: RateLimit, limiter: Limiter, *, whole_seconds: bool, round_trip_s: float, answer_s: float
) -> Crowd:
    """Sends `n_calls` at once to a server that refuses within a round trip and answers `answer_s` later."""
    crowd, loop, rng = Crowd(), asyncio.get_running_loop(), random.Random(7)

    async def attempt() -> None:
        async with limiter.slot() as ticket:
            crowd.sent += 1
            await asyncio.sleep(round_trip_s / 2)
            wait_s = limit.wait_s(loop.time())
            await asyncio.sleep(round_trip_s / 2)
            if wait_s:
                crowd.refused += 1
                asked_s = float(math.ceil(wait_s)) if whole_seconds else wait_s
                limiter.refused(ticket, asked_s)
                raise ToolError("too many", tool="model", status=429, retry_after_s=asked_s, retryable=True)
            await asyncio.sleep(answer_s)

    async def call() -> None:
        await RetryPolicy().run(attempt, rng)
        crowd.finished += 1

    await asyncio.gather(*(call() for _ in range(n_calls)))
    crowd.took_s = loop.time()
    return crowd
