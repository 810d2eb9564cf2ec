"""Reads a stream, and checks each sentence as soon as its end is certain."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from factloop.agents.safe.judgements import unscored
from factloop.checking.checker import FactChecker
from factloop.core.errors import ConfigError, FactloopError, ToolTimeout
from factloop.core.records import Claim, NoClaim, Sentence, Usage
from factloop.guarding.chunks import WholeCharacters, closed_after, text_of
from factloop.setup.limits import Limits
from factloop.setup.sources import Sources
from factloop.tools.text import sentences
from factloop.tools.text.growing import GrowingText, Stretch

OPENING = 1_500
RECENT = 3_000
"""Characters of the answer that a sentence may refer to: its opening, which names the topic, and what came last."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_CUT_AT_END, _CUT_AT_START = re.compile(r"\S+\Z"), re.compile(r"\A\S+")
"""Words through which the text around a sentence may be cut."""


@dataclass(frozen=True)
class SentenceCheck:
    """The check of one sentence, as it stands in the whole answer, and what it cost."""

    claims: tuple[Claim, ...] = ()
    sentence: Sentence | None = None
    """None if the stretch has no sentence."""
    usage: Usage | None = None
    """None where the check itself failed."""


@dataclass(frozen=True)
class PendingSentence:
    """A stretch of the answer, and the check of its sentence under way."""

    stretch: Stretch
    checked: asyncio.Future[SentenceCheck]


@dataclass
class Reader:
    """Holds the tasks of one stream; leaving it stops them. Lives in one event loop."""

    checker: FactChecker
    prompt: str | None
    sources: Sources | None
    at_once: int
    patience_s: float | None
    limits: Limits | None

    def __post_init__(self) -> None:
        self._room = asyncio.Semaphore(self.at_once)
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
            for stretch in (*growing.feed(characters.end()), *growing.end()):
                await self._take(stretch, growing.text)
        finally:
            self._ready.put_nowait(None)

    async def _take(self, stretch: Stretch, text: str) -> None:
        await self._room.acquire()
        self._number += stretch.sentence is not None
        checked = self._start(self._check(stretch.sentence, text[: stretch.seen], self._number))
        self._ready.put_nowait(PendingSentence(stretch, checked))

    async def _check(self, sentence: sentences.Sentence | None, text: str, number: int) -> SentenceCheck:
        """The claims of a sentence with their judgements; if the check fails, one unscored claim for the sentence.

        `text` is the answer as far as it was written when the end of the sentence was certain; `number` is that of the
        sentence, from 1. Raises ConfigError alone: nothing could be judged with a wrong set-up.
        """
        if sentence is None:
            return SentenceCheck()
        shown, start = _shown(text, sentence)
        span = (start, start + len(sentence.text))
        try:
            async with asyncio.timeout(self.patience_s) as limit:
                report = await self.checker.acheck(
                    shown, self.prompt, spans=[span], sources=self.sources, limits=self.limits
                )
        except ConfigError:
            raise
        except TimeoutError:
            if self.patience_s is None or not limit.expired():
                raise
            return _unread(sentence, number, ToolTimeout(tool="the check of a sentence", timeout_s=self.patience_s))
        except FactloopError as error:
            return _unread(sentence, number, error)
        ids = {claim.id: f"c{number}.{place}" for place, claim in enumerate(report.claims, 1)}
        claims = tuple(_placed(claim, sentence, ids) for claim in report.claims)
        no_claim = None if claims else report.sentences[0].no_claim
        return SentenceCheck(claims, _read(sentence, claims, no_claim), report.usage)

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
    """The text around the sentence, within bounds, and where the sentence begins there."""
    before = text[: sentence.start]
    if len(before) > OPENING + RECENT:
        opening, recent = _CUT_AT_END.sub("", before[:OPENING]), _CUT_AT_START.sub("", before[-RECENT:])
        before = f"{opening.rstrip()}\n\n{recent.lstrip()}"
    return _SURROGATE.sub("\ufffd", before + text[sentence.start :]), len(before)


def _placed(claim: Claim, sentence: sentences.Sentence, ids: Mapping[str, str]) -> Claim:
    """The claim with its span in the answer, and with its id there, after the number of its sentence."""
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
    return SentenceCheck((claim,), _read(sentence, (claim,), None))


def _read(sentence: sentences.Sentence, claims: tuple[Claim, ...], no_claim: NoClaim | None) -> Sentence:
    span = (sentence.start, sentence.end)
    return Sentence(span=span, claims=tuple(claim.id for claim in claims), no_claim=no_claim)
