"""Compares a report with the world's truth, fact by fact."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from factloop.records import Claim, Verdict
from tests.simulator.world import GoldFact


@dataclass(frozen=True)
class Score:
    """How the facts of a response fared in a report. `n_matched + n_failed + n_lost == n_facts`."""

    n_facts: int = 0
    n_matched: int = 0
    """Facts with a claim of the same sentence and text."""
    n_equal: int = 0
    """Of these, with the verdict that is true."""
    n_unscored: int = 0
    """Of these, without a verdict."""
    n_failed: int = 0
    """Facts that only an unscored claim of their sentence stands for: its split failed, and the report says so."""
    n_lost: int = 0
    """Facts that no claim stands for."""

    @property
    def agreement(self) -> float | None:
        """Share of matched facts with the true verdict, unscored ones counting as wrong; None where none matched."""
        return self.n_equal / self.n_matched if self.n_matched else None

    def __add__(self, other: Score) -> Score:
        return Score(
            self.n_facts + other.n_facts,
            self.n_matched + other.n_matched,
            self.n_equal + other.n_equal,
            self.n_unscored + other.n_unscored,
            self.n_failed + other.n_failed,
            self.n_lost + other.n_lost,
        )


def score(claims: Iterable[Claim], facts: Sequence[GoldFact]) -> Score:
    """Matches each fact with one claim; a claim that stands for a fact stands for no other."""
    by_fact: defaultdict[tuple[str, str], list[Claim]] = defaultdict(list)
    failed_sentences: set[str] = set()
    for claim in claims:
        by_fact[_line(claim.sentence), _line(claim.self_contained)].append(claim)
        if claim.judgement.verdict is None:
            failed_sentences.add(_line(claim.sentence))
    total = Score()
    for fact in facts:
        candidates = by_fact[_line(fact.sentence), _line(fact.self_contained)]
        if candidates:
            total += _score_of(candidates.pop(0).judgement.verdict, fact)
        elif _line(fact.sentence) in failed_sentences:
            total += Score(n_facts=1, n_failed=1)
        else:
            total += Score(n_facts=1, n_lost=1)
    return total


def _score_of(verdict: Verdict | None, fact: GoldFact) -> Score:
    return Score(n_facts=1, n_matched=1, n_equal=int(verdict == fact.label), n_unscored=int(verdict is None))


def _line(text: str) -> str:
    return " ".join(text.split())
