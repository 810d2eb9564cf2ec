"""Pacing and concurrency for one server: starts gently, learns the server's rate from its refusals.

A server that refuses with 429 answers at once, so a burst of a thousand requests earns a thousand refusals before the
first is noticed. Requests therefore leave at a rate that starts at `START_RATE` and doubles while nothing is refused.
A refusal pauses everybody for as long as the server asks; afterwards requests are spaced just below the rate at which
the server accepted them, which creeps up again slowly (AIMD, as TCP does).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

START_RATE = 120.0
"""Requests a second at the start."""
RAMP_S = 0.2
"""Seconds after which an unrefused start doubles its rate."""
UNPACED_RATE = 8_000.0
"""A rate above which spacing is pointless."""
BACK_OFF = 0.9
SLOW_GROWTH = 0.006
"""Share by which a learnt rate grows each second, until `RECOVERED_S` without a refusal have passed."""
FAST_GROWTH = 0.10
RECOVERED_S = 30.0
LOWEST_RATE = 0.02
DEFAULT_PAUSE_S = 1.0
WINDOW_S = 1.0
"""The rate a server accepts is read off the requests of the second before its refusal."""


@dataclass(frozen=True)
class Ticket:
    """Proof of a slot: when its request left, in the loop's clock."""

    sent_at: float


class Limiter:
    """Bounds concurrency and rate of the calls to one server. Lives in one event loop."""

    def __init__(self, *, concurrency: int | None = None, requests_per_second: float | None = None) -> None:
        self._slots = asyncio.Semaphore(concurrency) if concurrency else nullcontext()
        self._cap = requests_per_second
        self._rate = min(START_RATE, requests_per_second or START_RATE)
        self._turn = asyncio.Lock()
        self._next_at = 0.0
        self._paused_until = 0.0
        self._learnt = False
        self._changed_at: float | None = None
        self._refused_at = 0.0
        self._accepted: deque[float] = deque(maxlen=4096)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Ticket]:
        """A place to send one request in; leaving it frees the place."""
        async with self._slots:
            yield Ticket(await self._wait_for_turn())

    def accepted(self, ticket: Ticket) -> None:
        """The server took the request (whatever came of it)."""
        self._accepted.append(ticket.sent_at)

    def refused(self, ticket: Ticket, retry_after_s: float | None) -> None:
        """The server refused the request for its rate: everybody pauses, then goes on more slowly."""
        now = asyncio.get_running_loop().time()
        pause_s = DEFAULT_PAUSE_S if retry_after_s is None else retry_after_s
        self._paused_until = max(self._paused_until, now + pause_s)
        if ticket.sent_at <= self._refused_at:
            return  # it left before the last lesson was learnt, and teaches nothing new
        recent = sum(1 for sent_at in self._accepted if sent_at > ticket.sent_at - WINDOW_S)
        lowered = BACK_OFF * self._rate
        seen = BACK_OFF * recent / WINDOW_S if recent else lowered / 2
        self._rate = max(LOWEST_RATE, seen if not self._learnt else min(lowered, max(seen, lowered / 2)))
        self._learnt = True
        self._refused_at = self._changed_at = now

    async def _wait_for_turn(self) -> float:
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._rate >= UNPACED_RATE and now >= self._paused_until:
            return now
        async with self._turn:  # one sleeper at a time: the rest queue behind it in order
            while (delay_s := max(self._next_at, self._paused_until) - loop.time()) > 0:  # noqa: ASYNC110 - a clock
                await asyncio.sleep(delay_s)
            now = loop.time()
            self._grow(now)
            # Lateness of the timer is made up for, but never by more than one interval.
            interval_s = 1.0 / self._rate
            self._next_at = max(self._next_at, now - interval_s) + interval_s
            return now

    def _grow(self, now: float) -> None:
        if self._changed_at is None:
            self._changed_at = now
        elapsed_s = now - self._changed_at
        if self._learnt:
            growth = SLOW_GROWTH if now - self._refused_at < RECOVERED_S else FAST_GROWTH
            self._rate *= (1.0 + growth) ** elapsed_s
        elif elapsed_s >= RAMP_S:
            self._rate *= 2.0
        else:
            return
        self._changed_at = now
        if self._cap is not None:
            self._rate = min(self._rate, self._cap)
