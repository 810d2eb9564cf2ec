"""Reads a stream, and starts the check of each sentence as soon as its end is certain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from factloop.checking.checker import FactChecker
from factloop.guarding.chunks import WholeCharacters, closed_after, text_of
from factloop.guarding.sentence import SentenceCheck, SentenceContext, check_sentence
from factloop.setup.limits import Limits
from factloop.setup.sources import Sources
from factloop.tools.text.growing import GrowingText, Stretch


@dataclass(frozen=True)
class PendingSentence:
    """A stretch of the answer, and the check of its sentence under way."""

    stretch: Stretch
    checked: asyncio.Future[SentenceCheck]


class Reader:
    """Holds the tasks of one stream; leaving it stops them. Lives in one event loop."""

    def __init__(
        self,
        checker: FactChecker,
        prompt: str | None,
        sources: Sources | None,
        at_once: int,
        patience_s: float | None,
        limits: Limits | None,
    ) -> None:
        self._checker, self._prompt, self._sources = checker, prompt, sources
        self._patience_s, self._limits = patience_s, limits
        self._room = asyncio.Semaphore(at_once)
        self._ready: asyncio.Queue[PendingSentence | None] = asyncio.Queue()  # `_room` is what bounds it
        self._tasks: set[asyncio.Task[Any]] = set()
        self._number = 0

    async def read(self, chunks: AsyncIterable[object]) -> AsyncGenerator[PendingSentence, None]:
        """The stretches of the stream in order. Raises what its source raises, after the last."""
        reading = self._start(self._read(chunks))
        while (pending := await self._ready.get()) is not None:
            yield pending
            self._room.release()
        await reading

    async def _read(self, chunks: AsyncIterable[object]) -> None:
        growing, characters = GrowingText(), WholeCharacters()
        try:
            async with closed_after(chunks):
                async for chunk in chunks:
                    for stretch in growing.feed(characters.feed(text_of(chunk))):
                        await self._take(stretch, growing.text)
            for stretch in growing.feed(characters.end()):
                await self._take(stretch, growing.text)
            for stretch in growing.end():
                await self._take(stretch, growing.text)
        finally:
            self._ready.put_nowait(None)

    async def _take(self, stretch: Stretch, text: str) -> None:
        await self._room.acquire()
        self._ready.put_nowait(PendingSentence(stretch, self._check(stretch, text)))

    def _check(self, stretch: Stretch, text: str) -> asyncio.Future[SentenceCheck]:
        if stretch.sentence is None:
            nothing: asyncio.Future[SentenceCheck] = asyncio.get_running_loop().create_future()
            nothing.set_result(SentenceCheck())
            return nothing
        self._number += 1
        context = SentenceContext(text[: stretch.seen], stretch.sentence, self._number)
        return self._start(
            check_sentence(self._checker, context, self._prompt, self._sources, self._patience_s, self._limits)
        )

    def _start(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        return task

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
