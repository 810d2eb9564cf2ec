"""What in the evidence speaks against a claim: another figure in its place, or a negation on one side only.

Both rules ask that one sentence (for negations one clause) holds nearly all of the claim, names included: a passage on
something else says other figures too, and "not found" is the safer answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from factloop.tools.verifiers.features import Comparison
from factloop.tools.verifiers.passage_index import matches
from factloop.tools.verifiers.terms import FIGURES, Kind, Sentence, Term, read_sentences

MIN_SHARE_FIGURE = 0.75
"""Share of the claim, its figures apart, that the sentence with another figure must hold."""
MIN_SHARE_NEGATION = 0.8
"""Share of the claim that the clause must hold that is negated, or is not, unlike the claim."""

_CLAUSE_END = re.compile(r"[,;:()—]|\b(?:but|while|whereas|although)\b")


def find_conflict(claim: Sequence[Sentence], comparison: Comparison) -> str | None:
    """What speaks against the claim, in words; None in any doubt."""
    return _other_figure(comparison) or _negation_on_one_side(claim, comparison)


def _other_figure(comparison: Comparison) -> str | None:
    """A figure that stands nowhere in the evidence, while the best sentence holds the rest and another of its kind."""
    missing = comparison.missing(FIGURES)
    best = comparison.best.terms
    rest = [term for term in comparison.terms if term.kind not in FIGURES]
    if not missing or not rest or not _holds(best, rest, MIN_SHARE_FIGURE):
        return None
    claimed = {term.key for term in comparison.terms}
    others = {term.kind: term for term in best if term.kind in FIGURES and term.key not in claimed}
    for term in missing:
        if term.kind in others:
            return f"the claim says {term.surface}, the evidence {others[term.kind].surface}"
    return None


def _negation_on_one_side(claim: Sequence[Sentence], comparison: Comparison) -> str | None:
    if comparison.missing(FIGURES):
        return None
    if _is_negated(claim):
        if not _is_negated([comparison.best]) and _holds(comparison.best.terms, comparison.terms, MIN_SHARE_NEGATION):
            return "the claim is negated, the closest sentence is not"
        return None
    for clause in _CLAUSE_END.split(comparison.best.text):
        sentences = read_sentences(clause)
        terms = [term for sentence in sentences for term in sentence.terms]
        if _is_negated(sentences) and _holds(terms, comparison.terms, MIN_SHARE_NEGATION):
            return "the closest sentence is negated, the claim is not"
    return None


def _is_negated(sentences: Iterable[Sentence]) -> bool:
    return any(term.kind is Kind.NEGATION for sentence in sentences for term in sentence.terms)


def _holds(held: Sequence[Term], asked: Sequence[Term], share: float) -> bool:
    """Whether every asked name and at least this share of all that is asked are held."""
    lacking = [term for term in asked if not any(matches(term, other) for other in held)]
    return len(lacking) <= (1.0 - share) * len(asked) and not any(term.kind is Kind.NAME for term in lacking)
