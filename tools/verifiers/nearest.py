"""What the sentences that come nearest to a claim refuse, where the best window is made of others.

*Only owners may delete a workspace* refuses *Admins may delete a workspace*, even where *A deleted workspace is kept
for a month* and a sentence on admins hold more words of the claim together.
"""

from __future__ import annotations

from factloop.tools.verifiers.alignment import align
from factloop.tools.verifiers.checks import conditions, denial, ended, quantity
from factloop.tools.verifiers.features import FEATURES, ClaimComparison
from factloop.tools.verifiers.passage_index import matches
from factloop.tools.verifiers.reading import read_closely
from factloop.tools.verifiers.terms import SentenceTerms, Term, TermKind
from factloop.tools.verifiers.wording import ENDING, ENDING_WITH

_CHECKS = (
    quantity.others_for_only,
    ended.ended_things,
    ended.past_for_present,
    conditions.other_conditions,
    denial.parts,
)
_TELLING = {"only", "until", "till", "unless", "before", *ENDING, *ENDING_WITH}
"""Lemmas of which a sentence must have one, or a denial, to refuse anything here."""


def refused_by_nearest(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The words of the claim, where a sentence refuses it that holds as much of it as any does; none where one holds
    all."""
    most = comparison.features[FEATURES.index("best_sentence")]
    for sentence in filter(_may_refuse, comparison.candidates) if most < 1.0 else ():
        held = [term for term in comparison.terms if any(matches(term, other) for other in sentence.terms)]
        if len(held) < most * len(comparison.terms):
            continue
        alignment = align(comparison.alignment.claim, read_closely(sentence))
        if any(True for check in _CHECKS for _ in check(alignment)):
            return comparison.terms
    return ()


def _may_refuse(sentence: SentenceTerms) -> bool:
    return any(term.kind is TermKind.NEGATION or term.key in _TELLING for term in sentence.terms)
