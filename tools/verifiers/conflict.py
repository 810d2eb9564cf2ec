"""Finds evidence against a claim: another figure in its place, or a negation on one side only.

Both rules ask that one sentence holds nearly all of the claim, names included: a passage on something else says other
figures too, and "not found" is the safer answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.verifiers.features import ClaimComparison
from factloop.tools.verifiers.passage_index import matches
from factloop.tools.verifiers.polarity import find_denial
from factloop.tools.verifiers.terms import FIGURES, SentenceTerms, Term, TermKind

MIN_SHARE_FIGURE = 0.75
"""Share of the claim, its figures apart, that the sentence with another figure must hold."""
MIN_SHARE_NEGATION = 0.8
"""Share of the claim that the sentence must hold that is negated, or is not, unlike the claim."""


def find_conflict(claim: Sequence[SentenceTerms], comparison: ClaimComparison) -> str | None:
    """The conflict of the evidence with the claim, in words; None in any doubt."""
    return _other_figure(comparison) or _negation_on_one_side(claim, comparison)


def _other_figure(comparison: ClaimComparison) -> str | None:
    """A figure that stands nowhere in the evidence, while the best sentence holds the rest and another of its kind."""
    missing = comparison.missing(FIGURES)
    best = comparison.best.terms
    rest = [term for term in comparison.terms if term.kind not in FIGURES]
    if not missing or not rest or not _holds(best, rest, MIN_SHARE_FIGURE):
        return None
    claimed = {term.key for term in comparison.terms}
    others = {term.kind: term for term in best if term.kind in FIGURES and term.key not in claimed}
    for term in missing:
        if term.kind in others and not _may_be_one(term, others[term.kind]):
            return f"the claim says {term.surface}, the evidence {others[term.kind].surface}"
    return None


def _may_be_one(term: Term, other: Term) -> bool:
    """Whether one figure is a decade or century that holds the other."""
    return any(matches(one, two) for one, two in ((term, other), (other, term)))


def _negation_on_one_side(claim: Sequence[SentenceTerms], comparison: ClaimComparison) -> str | None:
    if comparison.missing(FIGURES) or not _holds(comparison.best.terms, comparison.terms, MIN_SHARE_NEGATION):
        return None
    return find_denial(claim, comparison)


def _holds(held: Sequence[Term], asked: Sequence[Term], share: float) -> bool:
    """Whether every asked name and at least this share of all that is asked are held."""
    lacking = [term for term in asked if not any(matches(term, other) for other in held)]
    return len(lacking) <= (1.0 - share) * len(asked) and not any(term.kind is TermKind.NAME for term in lacking)
