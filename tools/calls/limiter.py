"""Limits the rate and concurrency of calls to one server, and learns the server's rate limit from rejected calls.

Servers reject requests (429) immediately, so a burst of a thousand requests would cause a thousand rejections before we
notice the first. The rate therefore starts at `START_RATE` and doubles while no request is rejected. A rejection pauses
all calls for as long as the server asks, and lowers the rate towards the rate accepted since the previous rejection,
which is the server's limit. Then the rate slowly rises again (AIMD, as in TCP).

A request counts as accepted once it was sent and not rejected, because only rejections arrive immediately.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

START_RATE = 120.0
RAMP_S = 0.2
"""Seconds without a rejection after which the initial rate doubles."""
UNPACED_RATE = 8_000.0
"""Rate at and above which requests are not spaced out."""
WINDOW_S = 1.0
"""The first rejection sets the rate to the rate accepted in this many seconds before it."""
LEAST_PROBED_RATE = 4.0
"""Minimum rate after the first rejection. If even the first requests are rejected, we learn nothing about the limit."""
BACK_OFF = 0.9
PROBING_GROWTH = 0.6
"""Growth of the rate per second between the first and the second rejection. The first rejection reveals little: servers
that allow bursts accept far more at the start than later, and others far less.
"""
SLOW_GROWTH = 0.006
"""Growth of a learned rate per second, until `RECOVERED_S` seconds pass without a rejection."""
FAST_GROWTH = 0.10
RECOVERED_S = 30.0
LOWEST_RATE = 0.02
FIRST_PAUSE_S = 1.0
"""Length of the first pause, unless the server specifies one. It doubles as long as the server accepts nothing."""
LONGEST_GUESSED_PAUSE_S = 32.0
TRIAL_ROUND_TRIPS = 1.5
"""Number of round trips to wait after a pause, while a single request tests whether the server accepts it."""
RECENT_S = 600.0
CALLER: ContextVar[str] = ContextVar("factloop_caller", default="")


class Slots:
    """A semaphore whose callers take turns. A caller's calls keep their order, except that `ahead` calls go first.

    If another caller has used a slot in the last `RECENT_S` seconds, the last free slot is reserved for callers without
    one. A busy caller could otherwise hold all slots with calls that it is too busy to finish.
    """

    def __init__(self, n_free: float) -> None:
        self._n_free, self._keeps_one = n_free, n_free > 1
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._n_held: Counter[str] = Counter()
        self._used_at: dict[str, float] = {}

    @asynccontextmanager
    async def one(self, *, ahead: bool = False) -> AsyncIterator[None]:
        caller = CALLER.get()
        await self._wait(caller, ahead=ahead)
        try:
            yield
        finally:
            self._free(caller)

    async def _wait(self, caller: str, *, ahead: bool) -> None:
        turn = asyncio.get_running_loop().create_future()
        queue = self._waiting.setdefault(caller, deque())
        queue.insert(0 if ahead else len(queue), turn)
        self._give()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the call got its slot at the same moment
                self._free(caller)
            raise

    def _free(self, caller: str) -> None:
        self._n_free += 1
        self._n_held[caller] -= 1
        self._give()

    def _give(self) -> None:
        while self._n_free and (caller := next(filter(self._may_have_one, self._waiting), None)) is not None:
            queue = self._waiting.pop(caller)
            while queue and queue[0].done():  # cancelled, so it takes no turn
                queue.popleft()
            if queue:
                self._n_free -= 1
                self._n_held[caller] += 1
                self._used_at[caller] = asyncio.get_running_loop().time()
                queue.popleft().set_result(None)
            if queue:
                self._waiting[caller] = queue  # moves to the end of the queue of callers

    def _may_have_one(self, caller: str) -> bool:
        if not self._keeps_one or self._n_free != 1 or self._n_held[caller] == 0:
            return True
        now = asyncio.get_running_loop().time()
        return all(one == caller or now - used_at > RECENT_S for one, used_at in self._used_at.items())


@dataclass(frozen=True)
class Slot:
    """`sent_at` is when the request was sent, on the event loop's clock."""

    sent_at: float


class Limiter:
    """Limits the rate and concurrency of calls to one server. It is bound to one event loop."""

    def __init__(self, *, concurrency: int | None = None, requests_per_second: float | None = None) -> None:
        self._slots = Slots(concurrency or math.inf)
        self._cap = self._ceiling = requests_per_second
        self._rate = START_RATE if requests_per_second is None else min(START_RATE, requests_per_second)
        self._n_under_way = 0
        self._drained: asyncio.Event | None = None
        self._turn = Slots(1)
        self._next_at = 0.0
        self._paused_until = 0.0
        self._trial_s = 0.0
        self._changed_at: float | None = None
        self._lessons = self._barren_lessons = 0
        self._refused_at = -math.inf
        self._recent: deque[float] = deque(maxlen=4096)
        self._sent_since = 0

    @asynccontextmanager
    async def slot(self, *, ahead: bool = False) -> AsyncIterator[Slot]:
        """Waits for a slot for one request. With `ahead`, goes before the caller's other requests."""
        async with self._slots.one(ahead=ahead):
            sent_at = await self._wait_for_turn(ahead=ahead)
            if self._drained is not None:
                await asyncio.Event().wait()  # the service is stopping and cancels this call
            self._n_under_way += 1
            try:
                yield Slot(sent_at)
            finally:
                self._n_under_way -= 1
                if self._drained is not None and not self._n_under_way:
                    self._drained.set()

    def close(self) -> asyncio.Event:
        """Stops sending requests. Returns an event that is set once all requests in progress have ended."""
        self._drained = self._drained or asyncio.Event()
        return self._drained

    async def drain(self) -> None:
        drained = self.close()
        if self._n_under_way:
            await drained.wait()

    def share_ceiling(self, n_processes: int) -> None:
        if self._ceiling is not None:
            self._cap = self._ceiling / n_processes
            self._rate = min(self._rate, self._cap)

    def refused(self, ticket: Slot, retry_after_s: float | None) -> None:
        """Records that the server rejected a request because of its rate limit. All calls pause and then slow down."""
        now = asyncio.get_running_loop().time()
        if ticket.sent_at > self._refused_at:  # an earlier request reveals nothing new
            self._learn(ticket, now)
        pause_s = retry_after_s
        if pause_s is None:
            doublings = min(max(self._barren_lessons - 1, 0), 16)
            pause_s = min(LONGEST_GUESSED_PAUSE_S, FIRST_PAUSE_S * 2.0**doublings)
        self._paused_until = max(self._paused_until, now + pause_s)
        self._changed_at = self._paused_until

    def pause(self, ticket: Slot, seconds: float) -> None:
        """Pauses all calls because the server is busy, without changing the rate."""
        now = asyncio.get_running_loop().time()
        self._trial_s = TRIAL_ROUND_TRIPS * (now - ticket.sent_at)
        self._paused_until = max(self._paused_until, now + seconds)

    def _learn(self, ticket: Slot, now: float) -> None:
        lowered = BACK_OFF * self._rate
        taken = self._sent_since - 1
        if self._lessons == 0:
            recent = sum(1 for sent_at in self._recent if ticket.sent_at - WINDOW_S < sent_at < ticket.sent_at)
            self._rate = min(lowered, max(BACK_OFF * recent / WINDOW_S, LEAST_PROBED_RATE))
        else:
            seen = BACK_OFF * taken / max(now - self._refused_at, 1e-3)
            self._rate = min(lowered, max(seen, lowered / 2.0))
        self._rate = max(self._rate, LOWEST_RATE)
        self._barren_lessons = self._barren_lessons + 1 if taken == 0 else 0
        self._lessons += 1
        self._trial_s = TRIAL_ROUND_TRIPS * (now - ticket.sent_at)
        self._sent_since = 0
        self._refused_at = now

    async def _wait_for_turn(self, *, ahead: bool) -> float:
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._rate >= UNPACED_RATE and now >= self._paused_until:
            return self._sent(now)
        async with self._turn.one(ahead=ahead):  # one call sleeps, and all other calls wait for it
            # A pause may begin or grow during the sleep.
            while (delay_s := max(self._next_at, self._paused_until) - loop.time()) > 0:  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(delay_s)
            now = loop.time()
            self._grow(now)
            # This makes up for timer delays, but never by more than one interval.
            interval_s = 1.0 / self._rate
            self._next_at = max(self._next_at, now - interval_s) + interval_s
            if self._trial_s:
                self._next_at, self._trial_s = max(self._next_at, now + self._trial_s), 0.0
            return self._sent(now)

    def _sent(self, now: float) -> float:
        self._recent.append(now)
        self._sent_since += 1
        return now

    def _grow(self, now: float) -> None:
        if self._changed_at is None:
            self._changed_at = now
        elapsed_s = max(0.0, now - self._changed_at)
        if self._lessons == 0:
            if elapsed_s < RAMP_S:
                return
            self._rate *= 2.0
        else:
            recovered = now - self._paused_until >= RECOVERED_S
            growth = PROBING_GROWTH if self._lessons == 1 else FAST_GROWTH if recovered else SLOW_GROWTH
            # Only requests show whether a rate is accepted, so idle time counts as two intervals at most.
            self._rate *= (1.0 + growth) ** min(elapsed_s, 2.0 / self._rate)
        self._rate = min(self._rate, UNPACED_RATE if self._cap is None else self._cap)
        self._changed_at = now
