"""One engine for each event loop, since connections cannot follow from one loop to another."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncGenerator, Callable, MutableMapping
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

CLOSED_WITHIN_S = 2.0


class Engine(Protocol):
    """A run's machinery, bound to one event loop."""

    async def aclose(self) -> None: ...


E = TypeVar("E", bound=Engine)


@dataclass(frozen=True)
class _Held(Generic[E]):
    engine: E
    closing: AsyncGenerator[None, None]
    """Suspended; what ends it closes the engine."""
    process: int


_ByLoop = MutableMapping[asyncio.AbstractEventLoop, _Held[E]]


class EnginePool(Generic[E]):
    """Holds the engines that loops came to need. Where nobody closes them, the end of the loop or of the pool does."""

    def __init__(self) -> None:
        self._held: _ByLoop[E] = weakref.WeakKeyDictionary()
        weakref.finalize(self, _close_left_open, self._held)

    async def here(self, build: Callable[[], E]) -> E:
        """The running loop's engine, built on first use."""
        loop = asyncio.get_running_loop()
        if loop not in self._held:
            engine = build()
            closing = _close_at_the_end(engine, self._held)
            self._held[loop] = _Held(engine, closing, os.getpid())
            await anext(closing)  # a started generator is known to the loop; no other task runs meanwhile
        return self._held[loop].engine

    async def aclose(self) -> None:
        """Closes the running loop's engine; the next `here` builds another."""
        held = self._held.get(asyncio.get_running_loop())
        if held is not None:
            await held.closing.aclose()


async def _close_at_the_end(engine: Engine, held: _ByLoop[Any]) -> AsyncGenerator[None, None]:
    """`asyncio.run` ends the generators left open in its loop while that still runs: only there connections close."""
    try:
        yield
    finally:
        held.pop(asyncio.get_running_loop(), None)
        await engine.aclose()


def _close_left_open(engines: _ByLoop[Any]) -> None:
    for loop, held in list(engines.items()):
        if not loop.is_running() or held.process != os.getpid():  # a fork has the loop, but not the thread it ran in
            continue
        closing = asyncio.run_coroutine_threadsafe(_close(held), loop)
        if not _runs_here(loop):
            wait([closing], CLOSED_WITHIN_S)  # the process may be about to end, and the loop's thread with it


async def _close(held: _Held[Any]) -> None:
    await held.closing.aclose()


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
