"""The event loop that checks run in. Callers take turns, so that no one's work holds up anyone else's."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import Context, ContextVar, copy_context
from threading import Event, Thread
from typing import Any, TypeVar, TypeVarTuple

from factloop.tools.calls.limiter import CALLER, Slots

THREADS_AT_WORK = 2
"""Threads that read and judge, in addition to the job loop. While one computes, requests wait for the GIL."""
SLICE_S = 0.001
"""How long the loop runs steps before it looks for new input."""
_WAITING: tuple[object, ...] = (socket.getaddrinfo, socket.getnameinfo)
_IS_CANCELLED: ContextVar[Event] = ContextVar("factloop_is_cancelled")
_NEVER, _ENDING = Event(), "\0ending"
"""`_ENDING` is the caller of all cancelled work, so that its last steps run before its owner's other steps."""
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class FairLoop(asyncio.SelectorEventLoop):
    """An event loop in which the callers of `CALLER` get equal shares of the computing time.

    In a standard loop, a one-sentence check of sixty steps would wait for another caller's long checks sixty times.
    Here, the next step is the oldest step of the caller that has used the least computing time (start-time fair
    queueing, Goyal et al. 1996, by measured time). Idle callers do not save up time. Callbacks from timers, sockets and
    other threads run first, but only make further steps ready.
    """

    def __init__(self) -> None:
        super().__init__()
        self._steps: dict[str, deque[asyncio.Handle]] = {}
        self._used_s: dict[str, float] = {}
        """The computing time used by each caller. A new or idle caller starts level with the others."""
        self._now_s = 0.0
        self._is_running_steps = False
        self._threads = Slots(THREADS_AT_WORK)

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Callers take turns to compute in the loop's own threads."""
        if executor is not None or func in _WAITING:
            return super().run_in_executor(executor, func, *args)

        async def in_turn() -> T:
            async with self._threads.one():
                if outer.cancelled():
                    raise asyncio.CancelledError
                return await super(FairLoop, self).run_in_executor(None, func, *args)

        outer = asyncio.shield(self.create_task(in_turn()))  # a thread keeps its place until it ends
        return outer

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedules a step after the other steps of the caller in `context`."""
        if context is None:
            context = copy_context()
        handle = asyncio.Handle(callback, args, self, context)
        caller = _ENDING if context.get(_IS_CANCELLED, _NEVER).is_set() else context.get(CALLER, "")
        if caller not in self._steps:
            self._steps[caller] = deque()
            self._used_s[caller] = max(self._now_s, self._used_s.get(caller, 0.0))
        self._steps[caller].append(handle)
        if not self._is_running_steps:
            self._is_running_steps = True
            super().call_soon(self._run_steps)
        return handle

    def _run_steps(self) -> None:
        until = time.perf_counter() + SLICE_S
        try:
            while self._steps and time.perf_counter() < until:
                self._run_step()
        finally:
            self._is_running_steps = bool(self._steps)
            if self._steps:
                super().call_soon(self._run_steps)

    def _run_step(self) -> None:
        caller = min(self._steps, key=self._used_s.__getitem__)
        self._now_s = self._used_s[caller]
        handle = self._steps[caller].popleft()
        begun = time.perf_counter()
        try:
            if not handle.cancelled():
                handle._run()  # reports errors as the standard loop does
        finally:
            self._used_s[caller] += time.perf_counter() - begun
            if not self._steps[caller]:
                del self._steps[caller]


class WorkLoop:
    """A fair event loop in a separate thread, so that its computations do not delay requests or leases."""

    def __init__(self) -> None:
        self._loop = FairLoop()
        self._loop.set_default_executor(ThreadPoolExecutor(2 * THREADS_AT_WORK, thread_name_prefix="factloop-reading"))
        self._thread = Thread(target=self._loop.run_forever, name="factloop-work", daemon=True)
        self._thread.start()

    def call(self, callback: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(callback)

    async def do(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs work in the loop and returns once it has ended. Cancelling the caller also cancels the work."""
        ended: Future[asyncio.Task[T]] = Future()
        tasks: list[asyncio.Task[T]] = []
        _IS_CANCELLED.set(is_cancelled := Event())

        def begin() -> None:
            tasks.append(self._loop.create_task(work()))
            tasks[0].add_done_callback(ended.set_result)

        self.call(begin)
        waiting = asyncio.wrap_future(ended)
        while not waiting.done():
            try:
                await asyncio.shield(waiting)
            except asyncio.CancelledError:
                is_cancelled.set()
                self.call(lambda: tasks[0].cancel())
        return waiting.result().result()

    async def aclose(self) -> None:
        async def finished() -> None:
            await self._loop.shutdown_asyncgens()
            await self._loop.shutdown_default_executor()

        await self.do(finished)
        self.call(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()
