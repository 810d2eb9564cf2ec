"""Runs asynchronous code for synchronous callers in a background event loop, one per process.

All calls share the loop, so that connections stay open. Its own thread lets calls work while another loop is running.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from factloop.core.errors import ConfigError

T = TypeVar("T")

_loops: dict[int, asyncio.AbstractEventLoop] = {}
"""By process id, because a forked process inherits the loop but not the thread that runs it."""


def _background_loop() -> asyncio.AbstractEventLoop:
    """Uses no lock, because a fork could copy the lock while another thread holds it."""
    process = os.getpid()
    if process not in _loops:
        loop = asyncio.new_event_loop()
        if _loops.setdefault(process, loop) is loop:
            threading.Thread(target=loop.run_forever, name="factloop", daemon=True).start()
        else:
            loop.close()
    return _loops[process]


def _refuse_own_loop() -> None:
    """Raises ConfigError inside the background loop, which would otherwise wait for itself forever."""
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        return
    if running is _loops.get(os.getpid()):
        raise ConfigError("cannot block factloop's own event loop: call the asynchronous version, such as `acheck`")


def iterate_blocking(items: Callable[[], AsyncIterator[T]]) -> Iterator[T]:
    """Yields items as they arrive. If the caller stops early or is interrupted, the remaining work is cancelled."""
    ready: queue.SimpleQueue[tuple[T] | None] = queue.SimpleQueue()

    async def pump() -> None:
        async for item in items():
            ready.put((item,))

    _refuse_own_loop()
    future = asyncio.run_coroutine_threadsafe(pump(), _background_loop())
    future.add_done_callback(lambda _: ready.put(None))
    try:
        while (item := ready.get()) is not None:
            yield item[0]
        future.result()
    finally:
        future.cancel()


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Interrupting the caller cancels `work`."""
    try:
        _refuse_own_loop()
    except ConfigError:
        work.close()
        raise
    future = asyncio.run_coroutine_threadsafe(work, _background_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
