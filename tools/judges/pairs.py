"""Defines `Judge`, which judges how well texts support claims.

`score_pairs` scores many claims, each with its own document, as in `research verify`. `rate` scores one claim against
the passages found for it, as in a check with `--judge`. Both cut texts to fit the judge's window.
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
from factloop.tools.judges.base import SupportReading, Verifier
from factloop.tools.judges.chunks import cut_by_words

BETWEEN = "\n\n"
THRESHOLD = 0.5
"""Minimum score of a supported claim, unless another was tuned on labels. It also applies to contradictions."""
MAX_CITED = 3
AT_ONCE = 64
"""Maximum number of pairs to read at a time. It is small, so that progress and deadlines can be handled in between."""
KEPT = 4_096
LINGER_S = 0.005
"""Seconds to wait for more pairs before reading a batch, which takes little longer than reading one pair."""


@dataclass(frozen=True)
class VerifierPair:
    claim: str
    document: str


@dataclass(frozen=True)
class PairScore:
    """The score of a pair, or the error that prevented scoring. Exactly one of the two is set."""

    score: float | None
    error: FactloopError | None = None
    """A DataError if there is nothing to read, otherwise the error of the failed call."""
    against: float = 0.0
    """Probability that the text contradicts the claim, or 0 if the judge only detects missing support."""
    unsaid: str = ""

    def __post_init__(self) -> None:
        if (self.score is None) == (self.error is None):
            raise ValueError("set either `score` or `error`, but not both")


class Judge(ABC):
    """Scores pairs of a claim and a text. Every judge is also a `Verifier`."""

    abstains: bool = False
    reads_passages_alone: bool = False
    """Whether `rate` passes the passages one by one, because the judge was trained on short premises."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the judge, and of its column in predictions."""

    @property
    @abstractmethod
    def identity(self) -> dict[str, object]:
        """Everything that affects scores, as JSON. Judges with equal identities give equal scores. May load weights."""

    @property
    def judged_by(self) -> str:
        return self.name

    def parts(self, claim: str) -> Sequence[str]:
        """Returns the parts of a claim to score separately, such as its sentences. Their mean is the claim's score."""
        return (claim,)

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:  # noqa: ARG002 - for subclasses with a window
        """Cuts the document into chunks of up to `n_words` words that fit into the window together with the claim."""
        return [document] if n_words is None else cut_by_words(document, n_words)

    def verify(
        self,
        claim: str,
        passages: Sequence[str],
        documents: Sequence[int] | None = None,  # noqa: ARG002 - `rate` decides which texts are read together
    ) -> SupportReading:
        """Calls `rate` and waits for the result. Raises the same errors. Ignores `documents`."""
        return run_blocking(rate(self, claim, passages, meter=UsageMeter()))

    @abstractmethod
    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:
        """Returns the score of each pair, in order, or the error of its call.

        Raises ConfigError if the judge cannot work at all, for example because of missing weights or a rejected key.
        """


class Read(Protocol):
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
    """Returns how well the passages support the claim, and which of them are decisive. `read` replaces `judge.read`.

    The claim is supported if its score is at least `upper`, or else contradicted if a text contradicts it with a
    probability of at least 0.5. Raises ConfigError, or the FactloopError of a text that could not be read.
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
        return SupportReading("insufficient", score, (), f"{judge.name} scores it {score:.2f} out of 1.{lacking}")
    alone = found if len(whole) == len(texts) else await _read_all(judge, claim, texts, meter, read)
    supported = score >= upper
    degrees = [_support(one) if supported else one.against for one in alone]
    order = sorted(range(len(texts)), key=lambda place: -degrees[place])
    deciding = [place for place in order if degrees[place] >= THRESHOLD] or order[:1]
    cited = tuple(readable[place] for place in deciding[:MAX_CITED])
    if supported:
        return SupportReading("supported", score, cited, f"{judge.name} scores it {score:.2f} out of 1.")
    return SupportReading("contradicted", score, cited, f"{judge.name}: contradicted with probability {against:.2f}.")


async def score_pairs(
    judge: Judge,
    pairs: Sequence[VerifierPair],
    sizes: Sequence[int | None] = (None,),
    *,
    meter: UsageMeter,
    read: Read | None = None,
) -> list[list[PairScore]]:
    """Returns the score of each pair, in order, for each chunk size. A size of None means as large as the judge allows.

    Each part of the claim gets its highest score over the document's chunks, and these are averaged, as in MiniCheck
    (section 4) and AlignScore (section 3.2). A pair is unscored if its claim or document is blank. It is also unscored
    if any chunk could not be read, because that chunk might have been the best. Raises ConfigError if the judge does.
    """
    places: dict[VerifierPair, int] = {}

    def cut() -> list[list[list[list[int]]]]:
        return [[_inputs(judge, pair, size, places) for pair in pairs] for size in sizes]

    asked = await asyncio.to_thread(cut)  # long documents take a while, as does a busy model
    readings = await (read or judge.read)(list(places), meter=meter)
    return [
        [_together(inputs, readings, pair) for inputs, pair in zip(of_size, pairs, strict=True)] for of_size in asked
    ]


async def read_all(
    judge: Verifier, asked: Sequence[tuple[str, Sequence[str]]], *, meter: UsageMeter
) -> list[SupportReading | None]:
    """Returns, for each claim, how well its texts support it, or None if any of them could not be read.

    The readings contain no quotes. If the judge reads passages one by one, the best score counts. Raises ConfigError.
    """
    if not isinstance(judge, Judge):
        return await asyncio.to_thread(lambda: [judge.verify(one, texts, [0] * len(texts)) for one, texts in asked])
    alone = judge.reads_passages_alone
    whole = [(claim, list(texts) if alone else [BETWEEN.join(texts)]) for claim, texts in asked]
    pairs = [VerifierPair(claim, text) for claim, texts in whole for text in texts]
    (scores,) = await score_pairs(judge, pairs, meter=meter)
    of_each = iter(scores)
    return [_best([next(of_each) for _ in texts]) for _, texts in whole]


def _best(found: Sequence[PairScore]) -> SupportReading | None:
    scores = [one.score for one in found if one.score is not None]
    if not scores or len(scores) < len(found):
        return None
    return SupportReading("supported" if max(scores) >= THRESHOLD else "insufficient", max(scores), (), "")


class SharedReads:
    """Shares the results of a judge that costs nothing among all claims in a session. It is bound to one event loop."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._found: dict[VerifierPair, asyncio.Future[PairScore]] = {}
        self._waiting: list[VerifierPair] = []
        self._work: asyncio.Task[None] | None = None

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002 - nothing is paid
        futures = [self._asked(pair) for pair in pairs]
        if self._waiting and (self._work is None or self._work.done()):
            self._work = asyncio.create_task(self._work_off())
        return [await asyncio.shield(future) for future in futures]  # cancelling one claim does not affect others

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
            except Exception as error:  # noqa: BLE001 - all waiting callers receive it
                failed, self._waiting = [*batch, *self._waiting], []
                for pair in failed:
                    future = self._found.pop(pair)
                    future.set_exception(error)
                    future.exception()  # marks the error as retrieved, because the caller may be gone
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
