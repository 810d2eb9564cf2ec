"""Decides how long calls wait for an unresponsive server.

A run has one clock per server, so that its calls do not wait through an outage one after another. The clock starts with
the first rejected request and runs while any call waits for the server. Every accepted request resets it. When the time
is up, all waiting calls fail together, and later calls fail immediately.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from factloop.core.errors import FactloopError, ToolError, ToolTimeout
from factloop.core.events import ServerWait
from factloop.tools.calls.modes import PATIENCE_S, REST_S


class Stopwatch:
    def __init__(self) -> None:
        self._shown_s = 0.0
        self._started_at: float | None = None

    @property
    def seconds(self) -> float:
        return self._shown_s + (
            0.0 if self._started_at is None else asyncio.get_running_loop().time() - self._started_at
        )

    def start(self) -> None:
        self._started_at = asyncio.get_running_loop().time()

    def stop(self) -> None:
        self._shown_s, self._started_at = self.seconds, None

    def reset(self, to_s: float = 0.0) -> None:
        self._shown_s = to_s
        if self._started_at is not None:
            self.start()


T = TypeVar("T")
Listener = Callable[[ServerWait], None]

FIRST_REST_S = 2.0
"""Seconds after which one call may try a server that we gave up on, because a checker may outlive an outage. The pause
doubles with each failed attempt, up to the maximum.
"""
NOT_THERE = 3
"""After this many failures, a server that has never accepted a request counts as unreachable, not as slow."""
TOLD_AFTER_S = 5.0
"""Seconds after which a wait is reported, or a third of the patience if that is less. Shorter waits are normal."""
TOLD_EVERY_S = 1.0

_listener: ContextVar[Listener | None] = ContextVar("factloop_told_of_waits", default=None)


@contextmanager
def told_of_waits(listener: Listener) -> Iterator[None]:
    """Calls the listener every second while calls in this block wait for a server that accepts no requests.

    If such blocks are nested, only the innermost listener is called.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(waiting: ServerWait) -> None:
    if (listener := _listener.get()) is not None:
        listener(waiting)


class Patience:
    """Decides when to give up on one server. It is bound to one event loop.

    We give up only after a request has failed, and not while another request has been in progress for longer than any
    failure took, because the server is probably working on it. So we never give up on a server that is merely slow or
    accepts requests only occasionally.
    """

    def __init__(self, server: str, seconds: float = PATIENCE_S, rest_s: float = REST_S) -> None:
        """`rest_s` is the longest pause between attempts to reach a server that we gave up on."""
        self._server, self.seconds = server, seconds
        self._longest_rest_s, self._rest_s = rest_s, min(FIRST_REST_S, rest_s)
        self._waiting: dict[asyncio.Timeout, Listener | None] = {}
        self._in_flight: dict[object, float] = {}
        self._clock = Stopwatch()
        self._timer: asyncio.TimerHandle | None = None
        self._has_served = False
        self._n_refused, self._slowest_refusal_s = 0, 0.0
        self._refusal: ToolError | None = None
        """The latest rejection, or None if a request has been accepted since."""
        self._paused_until = 0.0
        self._given_up: str | None = None
        """Why we gave up on the server. From then on, only trial requests are made."""
        self._next_trial_at = 0.0

    @property
    def is_given_up(self) -> bool:
        return self._given_up is not None

    async def wait_for(self, call: Callable[[], Awaitable[T]]) -> T:
        """Returns the result of the call, which may wait for its turn, pause, and be tried several times.

        Raises ToolError if we gave up on the server before or during the call, and otherwise the call's own errors.
        """
        self._admit()
        scope = asyncio.timeout(None)
        try:
            async with scope:
                with self._waited_in(scope):
                    return await call()
        except TimeoutError as error:
            if not scope.expired():
                raise
            raise self._error(self._why) from (self._refusal or error)
        except ToolTimeout as error:
            if self._has_served or self._n_refused < NOT_THERE:
                raise
            raise self._error(self._why) from error  # the server is unreachable, not just slow with this answer

    @contextmanager
    def asking(self, *, is_hello: bool = False) -> Iterator[None]:
        """Wraps one request, whose outcome shows whether the server accepts requests.

        A greeting (`is_hello`) shows only that the server is up.
        """
        request, sent_at = object(), _now()
        self._in_flight[request] = sent_at
        failure: BaseException | None = None
        try:
            yield
        except BaseException as error:
            failure = error
            raise
        finally:
            del self._in_flight[request]
            self._note(failure, took_s=_now() - sent_at, is_hello=is_hello)

    def give_up(self, why: str) -> ToolError:
        """Gives up immediately because the server is unreachable. Returns the error that calls will raise."""
        self._end(why.removeprefix(f"{self._server}: "))
        return self._error(self._why)

    def _admit(self) -> None:
        if self._given_up is None:
            return
        now = _now()
        if now < max(self._next_trial_at, self._paused_until) or self._in_flight:
            raise self._error(self._given_up)
        self._rest_s = min(2.0 * self._rest_s, self._longest_rest_s)
        self._next_trial_at = now + self._rest_s
        self._clock.reset()

    @contextmanager
    def _waited_in(self, scope: asyncio.Timeout) -> Iterator[None]:
        if not self._waiting:
            self._clock.start()
            self._set_timer()
        self._waiting[scope] = _listener.get()
        try:
            yield
        finally:
            self._waiting.pop(scope, None)
            if not self._waiting:
                self._stop_clock()

    def _note(self, failure: BaseException | None, *, took_s: float, is_hello: bool) -> None:
        if isinstance(failure, ToolError) and _is_refusal(failure):
            self._slowest_refusal_s = max(self._slowest_refusal_s, took_s)
            self._refused(failure, took_s)
        elif _is_answer(failure):
            self._has_served |= not is_hello
            self._accepted()
        pause_s = self._paused_until - _now()
        if pause_s > self.seconds and self._waiting and not self._in_flight:
            wish = f"asked factloop to wait another {pause_s:.0f} s, but the limit is {self.seconds:g} s"
            self._end(self._with_cause(wish))

    def _accepted(self) -> None:
        self._given_up = self._refusal = None
        self._n_refused, self._slowest_refusal_s = 0, 0.0
        self._rest_s = min(FIRST_REST_S, self._longest_rest_s)
        self._clock.reset()
        self._stop_timer()

    def _refused(self, error: ToolError, took_s: float) -> None:
        if self._refusal is None:
            self._clock.reset(took_s)  # the time before the request was sent does not count
        self._n_refused += 1
        self._refusal = error
        self._paused_until = max(self._paused_until, _now() + (error.retry_after_s or 0.0))
        if self._given_up is not None or self._is_over:
            self._end(self._why)
        else:
            self._set_timer()

    def _end(self, why: str) -> None:
        self._given_up, self._next_trial_at = why, _now() + self._rest_s
        self._stop_clock()
        waiting, self._waiting = self._waiting, {}
        for scope in waiting:
            scope.reschedule(_now())

    @property
    def _is_over(self) -> bool:
        first_sent_at = next(iter(self._in_flight.values()), None)
        is_serving = first_sent_at is not None and _now() - first_sent_at > self._slowest_refusal_s
        return self._left_s <= 0.0 and not is_serving

    @property
    def _left_s(self) -> float:
        return self.seconds - self._clock.seconds

    def _stop_clock(self) -> None:
        self._clock.stop()
        self._stop_timer()

    def _set_timer(self) -> None:
        if self._timer is None and self._refusal is not None and math.isfinite(self.seconds):
            often_s = min(TOLD_EVERY_S, self.seconds / 20.0)
            delay_s = min(often_s, self._left_s) if self._left_s > 0.0 else often_s
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._tick)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        if self._is_over:
            self._end(self._why)
        else:
            self._tell()
            self._set_timer()

    def _tell(self) -> None:
        waited_s = self._clock.seconds
        if not min(TOLD_AFTER_S, self.seconds / 3.0) <= waited_s <= self.seconds:
            return
        assert self._refusal is not None  # the timer is set only after a rejection
        cause = self._cause(self._refusal)
        waiting = ServerWait(server=self._server, waited_s=waited_s, patience_s=self.seconds, cause=cause)
        for listener in {listener for listener in self._waiting.values() if listener is not None}:
            listener(waiting)

    @property
    def _why(self) -> str:
        waited_s = min(self._clock.seconds, self.seconds)  # a busy event loop may notice the end late
        places = int(waited_s < 1.0)
        return self._given_up or self._with_cause(f"has not accepted a request for {waited_s:.{places}f} s")

    def _with_cause(self, said: str) -> str:
        if self._refusal is None:
            return said
        answer = "the last answer: " if self._refusal.status is not None else ""
        return f"{said} ({answer}{self._cause(self._refusal)})"

    def _cause(self, error: ToolError) -> str:
        return str(error).removeprefix(f"{self._server}: ") if error.status is None else f"status {error.status}"

    def _error(self, why: str) -> ToolError:
        return ToolError(f"{self._server}: {why}", tool=self._server)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _is_refusal(error: ToolError) -> bool:
    if error.status is None:
        return error.retryable
    return error.wants_pause or error.status >= 500


def _is_answer(failure: BaseException | None) -> bool:
    if isinstance(failure, ToolError):
        return failure.status is not None
    return failure is None or isinstance(failure, FactloopError)
