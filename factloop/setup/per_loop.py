"""Keeps one object per event loop, because connections cannot move between loops."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, MutableMapping
from concurrent.futures import wait
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

CLOSED_WITHIN_S = 2.0


class Closable(Protocol):
    async def aclose(self) -> None: ...


C = TypeVar("C", bound=Closable)


@dataclass(eq=False)
class _Entry(Generic[C]):
    value: C
    process: int = field(default_factory=os.getpid)
    n_users: int = 0
    is_let_go: bool = False
    """Whether to close the object as soon as no one uses it."""
    is_closing: bool = False
    closing: AsyncGenerator[None, None] | None = None
    """A suspended generator that closes the object when it finishes."""

    async def close(self) -> None:
        if self.closing is not None and not self.is_closing:
            await self.closing.aclose()

    async def let_go(self) -> None:
        """Closes the object now, or when its last user is done."""
        self.is_let_go = True
        if self.n_users:
            await asyncio.sleep(0)  # lets an abandoned stream end now rather than with its loop
        else:
            await self.close()


_ByLoop = MutableMapping[asyncio.AbstractEventLoop, set[_Entry[C]]]
"""Each loop's current object, and objects that were released while still in use."""


class PerLoop(Generic[C]):
    """One object per event loop. It is closed when its loop ends or this container is garbage-collected."""

    def __init__(self) -> None:
        self._entries: _ByLoop[C] = weakref.WeakKeyDictionary()
        weakref.finalize(self, _close_left_open, self._entries)

    async def open(self, build: Callable[[], C]) -> C:
        """Returns the running loop's object, and builds it if there is none."""
        return (await self._here(build)).value

    @asynccontextmanager
    async def used(self, build: Callable[[], C]) -> AsyncIterator[C]:
        """Like `open`, but keeps the object open until the block ends."""
        entry = await self._here(build)
        entry.n_users += 1
        try:
            yield entry.value
        finally:
            entry.n_users -= 1
            if entry.is_let_go and not entry.n_users:
                await entry.close()

    async def aclose(self) -> None:
        """Closes the running loop's object now, or when its last user is done. `open` then builds a new one."""
        for entry in list(self._of_this_loop):
            await entry.let_go()

    @property
    def _of_this_loop(self) -> set[_Entry[C]]:
        return self._entries.setdefault(asyncio.get_running_loop(), set())

    async def _here(self, build: Callable[[], C]) -> _Entry[C]:
        of_loop = self._of_this_loop
        for entry in of_loop:
            if not entry.is_let_go:
                return entry
        entry = _Entry(build())
        of_loop.add(entry)
        entry.closing = _close_at_the_end(entry, of_loop)
        await anext(entry.closing)  # registers the generator with the loop without letting other tasks run
        return entry


class ClosesPerLoop:
    """Base class for objects that open resources in each event loop. Close them with `async with` or `aclose`."""

    _open: PerLoop[Any]

    async def aclose(self) -> None:
        """Closes this loop's connections and cache once no task uses them. The object can be used again."""
        await self._open.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


async def _close_at_the_end(entry: _Entry[Any], of_loop: set[_Entry[Any]]) -> AsyncGenerator[None, None]:
    """`asyncio.run` finishes open generators before it stops the loop, so the loop can still close connections."""
    try:
        yield
    finally:
        entry.is_closing = True
        of_loop.discard(entry)
        await entry.value.aclose()


def _close_left_open(entries: _ByLoop[Any]) -> None:
    for loop, of_loop in list(entries.items()):
        for one in list(of_loop):
            if not loop.is_running() or one.process != os.getpid():  # a forked process has the loop, but not its thread
                continue
            closing = asyncio.run_coroutine_threadsafe(one.close(), loop)
            if not _runs_here(loop):
                wait([closing], CLOSED_WITHIN_S)  # the process and the loop's thread may be about to end


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
