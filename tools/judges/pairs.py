"""`Judge`: a claim and a text in, a degree of support out. Everything that asks a judge goes through here.

`score_pairs` asks for many claims, each by its own document: `research verify`, and the tuning of cascades. `rate` asks
for one claim by the passages that were found for it: a check with `--judge`. Both cut texts to the judge's window.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from factloop.core.errors import DataError, FactloopError
from factloop.core.sync import run_blocking
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import SupportReading
from factloop.tools.judges.chunks import cut_by_words

BETWEEN = "\n\n"
"""Stands between passages that are read as one document."""
THRESHOLD = 0.5
"""Score from which a claim is supported, where no labels have set another. Contradictions need as much."""
MAX_CITED = 3
AT_ONCE = 64
"""Pairs that are read in one go: few enough for progress and deadlines to get their turn."""
KEPT = 4_096
LINGER_S = 0.005
"""A first pair waits so long for others: claims of a bunch come one after the other, and a batch costs little more."""


@dataclass(frozen=True)
class VerifierPair:
    """A claim and the text that it is judged by."""

    claim: str
    document: str


@dataclass(frozen=True)
class PairScore:
    """The score of a pair, or the error that prevented it; never both, never neither."""

    score: float | None
    """Degree of support in [0, 1]; from 0.5 on the claim counts as supported."""
    error: FactloopError | None = None
    """DataError where there is nothing to read, else the failure of a call."""
    against: float = 0.0
    """Probability that the text contradicts the claim; 0 from judges that do not tell this from missing support."""
    unsaid: str = ""
    """The words of the claim that the text does not bear out, from judges that mark them."""

    def __post_init__(self) -> None:
        if (self.score is None) == (self.error is None):
            raise ValueError("a pair is scored, or has an error")


class Judge(ABC):
    """Scores pairs of a claim and a text. A subclass says what it is and how it reads a batch of pairs.

    Every judge is a `Verifier`, too.
    """

    abstains: bool = False
    """As `Verifier.abstains`."""
    reads_passages_alone: bool = False
    """Whether `rate` gives it each passage by itself: long premises dilute what it was trained on."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of its column in predictions."""

    @property
    @abstractmethod
    def identity(self) -> dict[str, object]:
        """All that shapes its scores, as JSON has it: two judges of one identity score alike. Reads the weights."""

    @property
    def judged_by(self) -> str:
        """The name that judgements carry: with the revision of the weights, where there are any."""
        return self.name

    def parts(self, claim: str) -> Sequence[str]:
        """The parts of a claim that are judged: itself, or its sentences; the claim's score is their mean."""
        return (claim,)

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:  # noqa: ARG002 - for those with a window
        """The document in chunks that fit beside the claim, of at most `n_words` words where they are given."""
        return [document] if n_words is None else cut_by_words(document, n_words)

    def verify(
        self,
        claim: str,
        passages: Sequence[str],
        documents: Sequence[int] | None = None,  # noqa: ARG002 - what is read together is the choice of `rate`
    ) -> SupportReading:
        """`rate`, as `Verifier.verify`, for those who do not wait in an event loop. Raises as `rate` does."""
        return run_blocking(rate(self, claim, passages, meter=UsageMeter()))

    @abstractmethod
    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:
        """A reading of each pair, in order; failures of single calls are in it.

        Raises ConfigError where the judge cannot work at all (no such weights, a key refused).
        """


class Read(Protocol):
    """`Judge.read`, or what stands for it."""

    def __call__(self, pairs: Sequence[VerifierPair], /, *, meter: UsageMeter) -> Awaitable[list[PairScore]]: ...


async def rate(
    judge: Judge,
    claim: str,
    passages: Sequence[str],
    *,
    meter: UsageMeter,
    upper: float = THRESHOLD,
    read: Read | None = None,
) -> SupportReading:
    """How far the passages bear out the claim, with those that decide; `read` stands for the judge's own.

    The claim is supported from the score `upper` on; otherwise it is contradicted where a text contradicts it with a
    probability of at least 0.5. Raises ConfigError, and the FactloopError of a text that could not be read.
    """
    readable = [place for place, passage in enumerate(passages) if passage.strip()]
    if not claim.strip() or not readable:
        return SupportReading("insufficient", 0.0, (), "no claim or no evidence to read")
    texts = [passages[place] for place in readable]
    whole = texts if judge.reads_passages_alone else [BETWEEN.join(texts)]
    found = await _read_all(judge, claim, whole, meter, read)
    best = max(found, key=_support)
    score, against = _support(best), max(one.against for one in found)
    if score < upper and against < THRESHOLD:
        lacking = f" These words are not supported: “{best.unsaid}”." if best.unsaid else ""
        return SupportReading("insufficient", score, (), f"{judge.name} gives it {score:.2f} of 1.{lacking}")
    alone = found if len(whole) == len(texts) else await _read_all(judge, claim, texts, meter, read)
    supported = score >= upper
    degrees = [_support(one) if supported else one.against for one in alone]
    order = sorted(range(len(texts)), key=lambda place: -degrees[place])
    deciding = [place for place in order if degrees[place] >= THRESHOLD] or order[:1]
    cited = tuple(readable[place] for place in deciding[:MAX_CITED])
    if supported:
        return SupportReading("supported", score, cited, f"{judge.name} gives it {score:.2f} of 1.")
    return SupportReading("contradicted", score, cited, f"{judge.name}: contradicted with probability {against:.2f}.")


async def score_pairs(
    judge: Judge,
    pairs: Sequence[VerifierPair],
    sizes: Sequence[int | None] = (None,),
    *,
    meter: UsageMeter,
    read: Read | None = None,
) -> list[list[PairScore]]:
    """The score of each pair, in order, for each size of chunk (None: as large as the judge takes them).

    The score of a pair is the highest over the chunks of its document, as in MiniCheck (section 4) and AlignScore
    (section 3.2), averaged over the parts of its claim. What two sizes have in common is read once. A pair with a chunk
    that could not be read has no score, since the best chunk may be that one; nor has one with a blank claim or
    document, of which nothing is known. Raises ConfigError as the judge does.
    """
    places: dict[VerifierPair, int] = {}

    def cut() -> list[list[list[list[int]]]]:
        return [[_inputs(judge, pair, size, places) for pair in pairs] for size in sizes]

    asked = await asyncio.to_thread(cut)  # long documents take long, and a model may be busy with others
    readings = await (read or judge.read)(list(places), meter=meter)
    return [
        [_together(inputs, readings, pair) for inputs, pair in zip(of_size, pairs, strict=True)] for of_size in asked
    ]


class SharedReads:
    """The reads of a judge that costs no money, shared by all claims of a session. Lives in one event loop."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._found: dict[VerifierPair, asyncio.Future[PairScore]] = {}
        self._waiting: list[VerifierPair] = []
        self._work: asyncio.Task[None] | None = None

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002 - nothing is paid
        """Reads as `Judge.read`."""
        futures = [self._asked(pair) for pair in pairs]
        if self._waiting and (self._work is None or self._work.done()):
            self._work = asyncio.create_task(self._work_off())
        return [await asyncio.shield(future) for future in futures]  # a claim that is given up stops no other

    def _asked(self, pair: VerifierPair) -> asyncio.Future[PairScore]:
        if pair not in self._found:
            oldest = list(self._found)[: max(0, len(self._found) - KEPT + 1)]
            for one in oldest:
                if self._found[one].done():
                    del self._found[one]
            self._found[pair] = asyncio.get_running_loop().create_future()
            self._waiting.append(pair)
        return self._found[pair]

    async def _work_off(self) -> None:
        await asyncio.sleep(LINGER_S)
        while self._waiting:
            batch, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
            try:
                scores = await self._judge.read(batch, meter=UsageMeter())
            except Exception as error:  # noqa: BLE001 - told to all who wait, whatever it is
                failed, self._waiting = [*batch, *self._waiting], []
                for pair in failed:
                    future = self._found.pop(pair)
                    future.set_exception(error)
                    future.exception()  # marks it as retrieved: its caller may be gone
                return
            for pair, score in zip(batch, scores, strict=True):
                self._found[pair].set_result(score)


async def _read_all(
    judge: Judge, claim: str, texts: Sequence[str], meter: UsageMeter, read: Read | None
) -> list[PairScore]:
    (found,) = await score_pairs(judge, [VerifierPair(claim, text) for text in texts], meter=meter, read=read)
    for one in found:
        if one.error is not None:
            raise one.error
    return found


def _support(read: PairScore) -> float:
    return read.score or 0.0


def _inputs(judge: Judge, pair: VerifierPair, size: int | None, places: dict[VerifierPair, int]) -> list[list[int]]:
    """The places of the inputs for each part of the claim; new ones are added to `places`."""
    if not pair.claim.strip() or not pair.document.strip():
        return []
    parts = [part for part in judge.parts(pair.claim) if part.strip()] or [pair.claim]
    return [
        [places.setdefault(VerifierPair(part, chunk), len(places)) for chunk in judge.chunks(part, pair.document, size)]
        for part in parts
    ]


def _together(inputs: Sequence[Sequence[int]], readings: Sequence[PairScore], pair: VerifierPair) -> PairScore:
    if not inputs:
        return PairScore(None, DataError(f"the {'claim' if pair.document.strip() else 'document'} is blank"))
    best = []
    for of_part in inputs:
        chunks = [readings[place] for place in of_part]
        failed = next((one for one in chunks if one.score is None), None)
        if failed is not None:
            return failed
        best.append(replace(max(chunks, key=_support), against=max(one.against for one in chunks)))
    return PairScore(
        sum(map(_support, best)) / len(best),
        against=max(one.against for one in best),
        unsaid=" … ".join(one.unsaid for one in best if one.unsaid),
    )
