"""The pairs, and how many of them a verifier reads aright."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from factloop.core.records import Record
from factloop.tools.verifiers.base import Label, Verifier

Half = Literal["development", "unseen"]
HALVES: tuple[Half, ...] = ("development", "unseen")


class MinimalPair(Record):
    """Evidence with two claims that differ in one thing of a kind."""

    id: str
    kind: str
    evidence: str
    true: str
    false: str


@dataclass(frozen=True)
class PairReading:
    """A pair with what a verifier calls its true and its false twin."""

    pair: MinimalPair
    true: Label
    false: Label


@dataclass(frozen=True)
class PairScore:
    """How often n pairs were read aright."""

    n: int
    tpr: float
    """Share of true twins called supported."""
    tnr: float
    """Share of false twins not called supported."""
    both: int
    """Pairs of which both twins are right."""
    contradicted_false: int
    contradicted_true: int
    """Twins called contradicted."""

    @property
    def balanced_accuracy(self) -> float:
        return (self.tpr + self.tnr) / 2


def read_half(half: Half) -> list[MinimalPair]:
    lines = (Path(__file__).parent / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [MinimalPair.model_validate_json(line) for line in lines]


def read_pairs_by(verifier: Verifier, pairs: Sequence[MinimalPair]) -> list[PairReading]:
    def label(claim: str, pair: MinimalPair) -> Label:
        return verifier.verify(claim, [pair.evidence]).label

    return [PairReading(pair, label(pair.true, pair), label(pair.false, pair)) for pair in pairs]


def score(readings: Sequence[PairReading]) -> PairScore:
    """The score of at least one reading."""
    n = len(readings)
    true = [one.true == "supported" for one in readings]
    false = [one.false != "supported" for one in readings]
    return PairScore(
        n=n,
        tpr=sum(true) / n,
        tnr=sum(false) / n,
        both=sum(first and second for first, second in zip(true, false, strict=True)),
        contradicted_false=sum(one.false == "contradicted" for one in readings),
        contradicted_true=sum(one.true == "contradicted" for one in readings),
    )
