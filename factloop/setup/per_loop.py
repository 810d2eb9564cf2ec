"""Holds one object of a kind for each event loop, since connections cannot move from one loop to another."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncGenerator, MutableMapping
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

CLOSED_WITHIN_S = 2.0


class Closable(Protocol):
    """An object that is bound to one event loop."""

    async def aclose(self) -> None: ...


C = TypeVar("C", bound=Closable)


@dataclass(frozen=True)
class _Held(Generic[C]):
    one: C
    closing: AsyncGenerator[None, None]
    """A suspended generator that closes the object when it ends."""
    process: int


_ByLoop = MutableMapping[asyncio.AbstractEventLoop, _Held[C]]


class PerLoop(Generic[C]):
    """Objects by their event loop. Those left open are closed at the end of the loop, or when this is collected."""

    def __init__(self) -> None:
        self._held: _ByLoop[C] = weakref.WeakKeyDictionary()
        weakref.finalize(self, _close_left_open, self._held)

    @property
    def here(self) -> C | None:
        """The running loop's object."""
        held = self._held.get(asyncio.get_running_loop())
        return None if held is None else held.one

    async def keep(self, one: C) -> C:
        """Makes this the running loop's object; the loop has none yet."""
        closing = _close_at_the_end(one, self._held)
        self._held[asyncio.get_running_loop()] = _Held(one, closing, os.getpid())
        await anext(closing)  # a started generator is known to the loop; no other task runs meanwhile
        return one

    async def aclose(self) -> None:
        """Closes the running loop's object."""
        held = self._held.get(asyncio.get_running_loop())
        if held is not None:
            await held.closing.aclose()


async def _close_at_the_end(one: Closable, held: _ByLoop[Any]) -> AsyncGenerator[None, None]:
    """Closes the object at the end of its loop: `asyncio.run` ends open generators while the loop still runs, and only
    there connections close.
    """
    try:
        yield
    finally:
        held.pop(asyncio.get_running_loop(), None)
        await one.aclose()


def _close_left_open(held: _ByLoop[Any]) -> None:
    for loop, one in list(held.items()):
        if not loop.is_running() or one.process != os.getpid():  # a fork has the loop, but not the thread it ran in
            continue
        closing = asyncio.run_coroutine_threadsafe(_close(one), loop)
        if not _runs_here(loop):
            wait([closing], CLOSED_WITHIN_S)  # the process may be about to end, and the loop's thread with it


async def _close(held: _Held[Any]) -> None:
    await held.closing.aclose()


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
