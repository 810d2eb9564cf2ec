"""Reads a stream and checks its sentences in windows. A window is checked when it is full or has waited long enough."""

from __future__ import annotations

import asyncio
import logging
import re
from bisect import bisect_right
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from factloop.agents.safe.judgements import unscored
from factloop.agents.safe.sentences import WindowSize
from factloop.checking.checker import FactChecker
from factloop.core.errors import ConfigError, FactloopError, ToolTimeout
from factloop.core.records import Claim, Sentence, Usage
from factloop.core.report_warnings import of_steering
from factloop.guarding.chunks import ChunkTexts, closed_after
from factloop.reports.figures import plural
from factloop.setup.limits import Limits
from factloop.setup.sources import Sources
from factloop.tools.calls.blame import expect_outages
from factloop.tools.text import sentences
from factloop.tools.text.growing import GrowingText, Stretch

log = logging.getLogger(__name__)
OPENING = 1_500
RECENT = 3_000
"""A window's context is the first `OPENING` characters before it, which name the topic, and the last `RECENT`."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_CUT_AT_END, _CUT_AT_START = re.compile(r"\S+\Z"), re.compile(r"\A\S+")
"""Words that may have been cut in two at the edges of the context."""


@dataclass(frozen=True)
class SentenceCheck:
    """The result of checking one sentence. Positions and ids refer to the whole answer."""

    claims: tuple[Claim, ...] = ()
    sentence: Sentence | None = None
    """None if the text contains no sentence."""
    usage: Usage | None = None
    """The cost of the window, stored with its first sentence. None for other sentences, or if the check failed."""
    steering: tuple[str, ...] = ()
    """Warnings about text that tries to instruct the judge, stored with the window's first sentence."""


@dataclass
class Window:
    """Parts of the answer whose sentences are checked together."""

    first: int
    """Number of the window's first sentence in the answer, starting at 1."""
    stretches: list[Stretch] = field(default_factory=list)
    text: str = ""
    """The answer up to the point where the window's last sentence was known to be complete."""
    sources: Sources | None = None
    """The sources that were known at that point."""
    is_closed: asyncio.Event = field(default_factory=asyncio.Event)
    checked: asyncio.Future[list[SentenceCheck]] = field(init=False)
    """One result for each stretch."""

    @property
    def sentences(self) -> list[sentences.Sentence]:
        return [one.sentence for one in self.stretches if one.sentence is not None]

    def has_room_for(self, stretch: Stretch, size: WindowSize) -> bool:
        """Whether the stretch fits into the window. Code is always checked alone."""
        held, sentence = self.sentences, stretch.sentence
        if self.is_closed.is_set() or sentence is None or not held:
            return not self.is_closed.is_set()
        is_code = stretch.is_code or self.stretches[-1].is_code
        return not is_code and len(held) < size.sentences and sentence.end - held[0].start <= size.characters


@dataclass(frozen=True)
class PendingSentence:
    window: Window
    place: int

    @property
    def stretch(self) -> Stretch:
        return self.window.stretches[self.place]


@dataclass
class Reader:
    """Runs the tasks for one stream, and cancels them on exit."""

    checker: FactChecker
    prompt: str | None
    sources: Sources | None
    at_once: int
    patience_s: float | None
    limits: Limits | None
    size: WindowSize
    max_wait_s: float

    def __post_init__(self) -> None:
        self._room = asyncio.Semaphore(self.at_once)
        self._ready: asyncio.Queue[PendingSentence | None] = asyncio.Queue()  # its length is limited by `_room`
        self._tasks: set[asyncio.Task[Any]] = set()
        self._window = Window(0)
        self._window.is_closed.set()
        self._number = 0

    async def read(self, chunks: AsyncIterable[object]) -> AsyncGenerator[PendingSentence, None]:
        """Yields the stream's stretches in order, and then raises any error from its source. Callers must await the
        check of each stretch before requesting the next one."""
        reading = self._start(self._read(chunks))
        while (pending := await self._ready.get()) is not None:
            yield pending
            if pending.place + 1 == len(pending.window.stretches):
                self._room.release()
        await reading

    async def _read(self, chunks: AsyncIterable[object]) -> None:
        growing, texts = GrowingText(), ChunkTexts()
        try:
            async with closed_after(chunks):
                async for chunk in chunks:
                    if isinstance(chunk, Sources):
                        self.sources = chunk
                        continue
                    for stretch in growing.feed(texts.feed(chunk)):
                        await self._take(stretch, growing.text)
            for stretch in (*growing.feed(texts.end()), *growing.end()):
                await self._take(stretch, growing.text)
        finally:
            self._window.is_closed.set()
            self._ready.put_nowait(None)

    async def _take(self, stretch: Stretch, text: str) -> None:
        if not self._window.has_room_for(stretch, self.size):
            self._window.is_closed.set()
            await self._room.acquire()
            self._window = Window(self._number + 1)
            self._window.checked = self._start(self._check(self._window))
        window = self._window
        self._number += stretch.sentence is not None
        window.stretches.append(stretch)
        window.text, window.sources = text[: stretch.seen], self.sources
        self._ready.put_nowait(PendingSentence(window, len(window.stretches) - 1))
        if len(window.sentences) >= self.size.sentences:
            window.is_closed.set()

    async def _check(self, window: Window) -> list[SentenceCheck]:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.max_wait_s):
                await window.is_closed.wait()
        window.is_closed.set()
        found = iter(await self._judged(window) if window.sentences else ())
        return [SentenceCheck() if one.sentence is None else next(found) for one in window.stretches]

    async def _judged(self, window: Window) -> list[SentenceCheck]:
        """If the check fails, returns one unscored claim per sentence. Raises only ConfigError."""
        held = window.sentences
        numbers = range(window.first, window.first + len(held))
        shown, moved = _shown(window.text, held[0])
        spans = [(one.start + moved, one.end + moved) for one in held]
        expect_outages()
        try:
            async with asyncio.timeout(self.patience_s) as limit:
                report = await self.checker.acheck(
                    shown, self.prompt, spans=spans, sources=window.sources, limits=self.limits
                )
        except ConfigError:
            raise
        except (TimeoutError, FactloopError) as error:
            failure = error
            if not isinstance(failure, FactloopError):
                if self.patience_s is None or not limit.expired():
                    raise
                failure = ToolTimeout(tool="the check of a sentence", timeout_s=self.patience_s)
            log.warning("%s could not be checked: %s", plural(len(held), "sentence"), failure)
            return [_unread(one, number, failure) for one, number in zip(held, numbers, strict=True)]
        starts = [start for start, _ in spans]
        owned: list[list[Claim]] = [[] for _ in held]
        for claim in report.claims:
            owned[bisect_right(starts, claim.span[0]) - 1].append(claim)
        records = {bisect_right(starts, one.span[0]) - 1: one for one in reversed(report.sentences)}
        ids = {
            claim.id: f"c{number}.{place}"
            for number, claims in zip(numbers, owned, strict=True)
            for place, claim in enumerate(claims, 1)
        }
        checks = []
        for place, sentence in enumerate(held):
            claims = tuple(_placed(claim, sentence, ids) for claim in owned[place])
            placed = {"span": (sentence.start, sentence.end), "claims": tuple(claim.id for claim in claims)}
            usage = None if place else report.usage  # the usage of the whole window
            steering = () if place else of_steering(report.warnings)
            checks.append(SentenceCheck(claims, records[place].model_copy(update=placed), usage, steering))
        return checks

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


def _shown(text: str, sentence: sentences.Sentence) -> tuple[str, int]:
    before = text[: sentence.start]
    if len(before) > OPENING + RECENT:
        opening, recent = _CUT_AT_END.sub("", before[:OPENING]), _CUT_AT_START.sub("", before[-RECENT:])
        before = f"{opening.rstrip()}\n\n{recent.lstrip()}"
    return _SURROGATE.sub("\ufffd", before + text[sentence.start :]), len(before) - sentence.start


def _placed(claim: Claim, sentence: sentences.Sentence, ids: Mapping[str, str]) -> Claim:
    own = {item.id: ids[claim.id] + item.id.removeprefix(claim.id) for item in claim.evidence}
    changes: dict[str, Any] = {
        "id": ids[claim.id],
        "span": (sentence.start, sentence.end),
        "evidence": tuple(item.model_copy(update={"id": own[item.id]}) for item in claim.evidence),
        "judgement": claim.judgement.model_copy(update={"cited": tuple(own[cited] for cited in claim.judgement.cited)}),
    }
    if claim.duplicate_of is not None:
        changes["duplicate_of"] = ids[claim.duplicate_of]
    return claim.model_copy(update=changes)


def _unread(sentence: sentences.Sentence, number: int, error: FactloopError) -> SentenceCheck:
    claim = Claim(
        id=f"c{number}.1",
        sentence=sentence.text,
        span=(sentence.start, sentence.end),
        text=sentence.text,
        self_contained=sentence.text,
        judgement=unscored(error),
    )
    return SentenceCheck((claim,), Sentence(span=claim.span, claims=(claim.id,)))
