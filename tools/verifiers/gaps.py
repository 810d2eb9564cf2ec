"""What of a claim no one place of the evidence says, though nothing there speaks against it."""

from __future__ import annotations

from factloop.tools.verifiers.features import ClaimComparison
from factloop.tools.verifiers.terms import FIGURES, Term, TermKind

ESSENTIAL = FIGURES | {TermKind.NAME}


def find_gap(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The words that stand nowhere, or in no one passage, where agreement of the others is no evidence; else none."""
    return _absent(comparison) or _unsaid(comparison) or _scattered(comparison)


def _absent(comparison: ClaimComparison) -> tuple[Term, ...]:
    """Names and figures that stand nowhere: whatever else agrees, of these the evidence says nothing."""
    names = comparison.missing(frozenset({TermKind.NAME}))
    return names if comparison.has_all_figures else (*names, *comparison.missing(FIGURES))


def _unsaid(comparison: ClaimComparison) -> tuple[Term, ...]:
    """All of the ordinary words: evidence that only names the subject says nothing of it. A figure says something."""
    alignment = comparison.alignment
    words = alignment.claim.of_kind(TermKind.WORD)
    has_figures = any(term.kind in FIGURES for term in comparison.terms)
    is_unsaid = not has_figures and all(place not in alignment.pairs for place in words)
    return tuple(alignment.claim.terms[place] for place in words) if is_unsaid else ()


def _scattered(comparison: ClaimComparison) -> tuple[Term, ...]:
    """Names, figures and the last word, mostly what is said of them, that stand only in different passages; or the
    last word, where those that hold it hold less of the claim than another."""
    last = comparison.terms[-1]
    asked = [term for term in comparison.terms if term.kind in ESSENTIAL or term is last]
    if not comparison.stand_together(asked):
        return tuple(asked)
    return () if comparison.stands_with_most(last) else (comparison.terms[0], last)
