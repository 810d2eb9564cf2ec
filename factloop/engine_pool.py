"""One engine for each event loop, since connections cannot follow from one loop to another."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, MutableMapping
from concurrent.futures import wait

from factloop.engine import Engine

CLOSED_WITHIN_S = 2.0

_ByLoop = MutableMapping[asyncio.AbstractEventLoop, Engine]


class EnginePool:
    """Holds the engines that loops came to need. Where nobody closes them, the pool's end does."""

    def __init__(self) -> None:
        self._engines: _ByLoop = weakref.WeakKeyDictionary()
        weakref.finalize(self, _close_left_open, self._engines)

    def here(self, build: Callable[[], Engine]) -> Engine:
        """The running loop's engine, built on first use."""
        loop = asyncio.get_running_loop()
        if loop not in self._engines:
            self._engines[loop] = build()
        return self._engines[loop]

    async def aclose(self) -> None:
        """Closes the running loop's engine; the next `here` builds another."""
        engine = self._engines.pop(asyncio.get_running_loop(), None)
        if engine is not None:
            await engine.aclose()


def _close_left_open(engines: _ByLoop) -> None:
    for loop, engine in list(engines.items()):
        if not loop.is_running():
            continue
        closing = asyncio.run_coroutine_threadsafe(engine.aclose(), loop)
        if not _runs_here(loop):
            wait([closing], CLOSED_WITHIN_S)  # the process may be about to end, and the loop's thread with it


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
