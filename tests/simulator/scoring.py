from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

from factloop.core.records import Claim, Verdict
from tests.simulator.world import GoldFact, Label


@dataclass(frozen=True)
class Score:
    """How a response's facts fared in a report: `n_matched + n_misattributed + n_failed + n_lost == n_facts`."""

    n_facts: int = 0
    n_matched: int = 0
    """Facts with a claim of the same sentence and text."""
    n_equal: int = 0
    """Of these, with the verdict that is true."""
    n_unscored: int = 0
    """Of these, without a verdict."""
    n_hidden: int = 0
    """Of these, called irrelevant although they are not, and so never checked."""
    n_hidden_false: int = 0
    """Of these in turn, false."""
    n_passed_false: int = 0
    """Of the matched, false, and called supported."""
    n_misattributed: int = 0
    """Facts that a claim of their sentence gives to another person, or leaves without a subject."""
    n_failed: int = 0
    """Facts that only an unscored claim of their sentence stands for: its split or its revision failed, and the report
    says so."""
    n_lost: int = 0
    """Facts that no claim stands for."""

    @property
    def agreement(self) -> float | None:
        """The proportion of facts with the true verdict; unscored, lost and misattributed ones count as wrong."""
        return self.n_equal / self.n_facts if self.n_facts else None

    @property
    def n_wrong(self) -> int:
        """The number of false verdicts."""
        return self.n_matched - self.n_equal - self.n_unscored

    def __add__(self, other: Score) -> Score:
        return Score(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


def score(claims: Iterable[Claim], facts: Sequence[GoldFact], *, gated: bool = True) -> Score:
    """Matches each fact with one claim; no claim is matched twice.

    With `gated` False, irrelevant facts are judged like all others.
    """
    by_sentence: defaultdict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_sentence[_line(claim.sentence)].append(claim)
    total = Score()
    for fact in facts:
        candidates = by_sentence[_line(fact.sentence)]
        exact = next((claim for claim in candidates if _line(claim.self_contained) == fact.self_contained), None)
        if exact is not None:
            candidates.remove(exact)
            total += _score_of(
                exact.judgement.verdict, fact, fact.label if gated else "supported" if fact.is_true else "not_supported"
            )
        elif any(_says_of_another(claim, fact) for claim in candidates):
            total += Score(n_facts=1, n_misattributed=1)
        elif any(claim.judgement.verdict is None for claim in candidates):
            total += Score(n_facts=1, n_failed=1)
        else:
            total += Score(n_facts=1, n_lost=1)
    return total


def _score_of(verdict: Verdict | None, fact: GoldFact, expected: Label) -> Score:
    is_hidden = verdict is Verdict.IRRELEVANT and expected != "irrelevant"
    return Score(
        n_facts=1,
        n_matched=1,
        n_equal=int(verdict == expected),
        n_unscored=int(verdict is None),
        n_hidden=int(is_hidden),
        n_hidden_false=int(is_hidden and not fact.is_true),
        n_passed_false=int(verdict is Verdict.SUPPORTED and not fact.is_true),
    )


def _says_of_another(claim: Claim, fact: GoldFact) -> bool:
    """An unsplit sentence or an unrevised fact names no one, so it is never misattributed."""
    if claim.judgement.verdict is None and claim.text in (claim.sentence, claim.self_contained):
        return False
    said = fact.self_contained.removeprefix(f"{fact.subject} ")
    return _line(claim.self_contained).endswith(f" {said}")


def _line(text: str) -> str:
    return " ".join(text.split())
