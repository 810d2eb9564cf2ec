"""Steps that the evidence warns of: *Eat the berries*, where it says *avoid eating the berries*."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.linguistics.instructions import DEEDS
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.duties import FORBIDDING

_WARNINGS = frozenset({"avoid", "forbidden", "refrain", *FORBIDDING})


def warned_steps(alignment: Alignment) -> Iterator[Mismatch]:
    """An instruction whose deed a clause of the evidence denies or warns of, in a sentence that has its object, too."""
    claim, sentence = alignment.claim, alignment.sentence
    first = claim.terms[0].key if claim.terms else ""
    if first not in DEEDS or first in _WARNINGS or claim.is_denied(0) or len(claim.content) < 2:
        return
    things = {sentence.sentence_at(one) for one in alignment.partners.get(claim.content[-1], ())}
    for deed in alignment.partners.get(0, ()):
        clause = sentence.clauses[deed]
        within = [place for place, one in enumerate(sentence.clauses) if one == clause]
        warning = [place for place in within if sentence.negators[place] or sentence.terms[place].key in _WARNINGS]
        if warning and sentence.sentence_at(deed) in things:
            yield Mismatch("denial", (0,), (warning[0],), excludes=True)
            return
