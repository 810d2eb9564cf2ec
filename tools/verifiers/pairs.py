"""Many claims scored, each against its own document: what an evaluator of evaluators asks of a verifier.

A reader judges a claim by a passage that fits its window; `score_pairs` cuts documents to that measure and puts the
readings of their chunks together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from factloop.core.errors import DataError, FactloopError
from factloop.tools.calls.meter import UsageMeter


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

    def __post_init__(self) -> None:
        if (self.score is None) == (self.error is None):
            raise ValueError("a pair is scored, or has an error")


class PairReader(Protocol):
    """One verifier over pairs whose documents fit into its window."""

    @property
    def name(self) -> str:
        """The name of the verifier's column."""
        ...

    @property
    def identity(self) -> dict[str, object]:
        """All that shapes its scores, as JSON has it: two readers of one identity score alike."""
        ...

    def parts(self, claim: str) -> Sequence[str]:
        """The parts of a claim that are judged: itself, or its sentences; the claim's score is their mean."""
        ...

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:
        """The document in chunks that fit, of at most `n_words` words where they are given."""
        ...

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:
        """A reading of each pair, in order; failures of single calls are in it.

        Raises ConfigError where the verifier cannot work at all (no such weights, a key refused).
        """
        ...


async def score_pairs(
    reader: PairReader, pairs: Sequence[VerifierPair], sizes: Sequence[int | None] = (None,), *, meter: UsageMeter
) -> list[list[PairScore]]:
    """The score of each pair, in order, for each size of chunk (None: as large as the reader takes them).

    The score of a pair is the highest over the chunks of its document, as in MiniCheck (section 4) and AlignScore
    (section 3.2), averaged over the parts of its claim. What two sizes have in common is read once. A pair with a chunk
    that could not be read has no score, since the best chunk may be that one; nor has one with a blank claim or
    document, of which nothing is known. Raises ConfigError as the reader does.
    """
    places: dict[VerifierPair, int] = {}

    def cut() -> list[list[list[list[int]]]]:
        return [[_inputs(reader, pair, size, places) for pair in pairs] for size in sizes]

    asked = await asyncio.to_thread(cut)  # long documents take long, and a model may be busy with others
    readings = await reader.read(list(places), meter=meter)
    return [
        [_together(inputs, readings, pair) for inputs, pair in zip(of_size, pairs, strict=True)] for of_size in asked
    ]


def _inputs(
    reader: PairReader, pair: VerifierPair, size: int | None, places: dict[VerifierPair, int]
) -> list[list[int]]:
    """The places of the inputs for each part of the claim; new ones are added to `places`."""
    if not pair.claim.strip() or not pair.document.strip():
        return []
    parts = [part for part in reader.parts(pair.claim) if part.strip()] or [pair.claim]
    return [
        [
            places.setdefault(VerifierPair(part, chunk), len(places))
            for chunk in reader.chunks(part, pair.document, size)
        ]
        for part in parts
    ]


def _together(inputs: Sequence[Sequence[int]], readings: Sequence[PairScore], pair: VerifierPair) -> PairScore:
    if not inputs:
        return PairScore(None, DataError(f"the {'claim' if pair.document.strip() else 'document'} is blank"))
    best = []
    for of_part in inputs:
        scores = []
        for place in of_part:
            if (score := readings[place].score) is None:
                return readings[place]
            scores.append(score)
        best.append(max(scores))
    return PairScore(sum(best) / len(best))
