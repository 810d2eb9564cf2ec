"""A short instruction of which the evidence has the deed without its object, or the object without the deed."""

from __future__ import annotations

from factloop.tools.linguistics.instructions import DEEDS
from factloop.tools.verifiers.features import ClaimComparison
from factloop.tools.verifiers.passage_index import matches
from factloop.tools.verifiers.terms import Term
from factloop.tools.verifiers.unsaid import phrase_after

MAX_CONTENT_OF_STEP = 3
"""Most words of content of a step in which one word may outweigh the other: *Add eggs* says nothing of *Add bleach*."""


def unsaid_step(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The deed and the last word of its object where no sentence of the evidence has both; else none."""
    claim, alignment = comparison.alignment.claim, comparison.alignment
    if not claim.terms or claim.terms[0].key not in DEEDS or len(claim.content) > MAX_CONTENT_OF_STEP:
        return ()
    phrase = phrase_after(claim, 0)
    if not phrase:
        return ()
    deed, thing = 0, phrase[-1]
    held = [
        {alignment.sentence.sentence_at(one) for one in alignment.partners.get(place, ())} for place in (deed, thing)
    ]
    if held[0] & held[1]:
        return ()
    asked = (claim.terms[deed], claim.terms[thing])
    if any(all(any(matches(term, other) for other in one.terms) for term in asked) for one in comparison.candidates):
        return ()
    return asked
