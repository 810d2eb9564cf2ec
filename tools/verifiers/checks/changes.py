"""Changes: *is 19 percent* where the evidence says *was cut from 19 to 16 percent*."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import CHANGING, PLANNING

REACH = 5
"""Words after the first figure of a change in which its second stands: *from 19 percent to 16 percent*."""

_NOT_PRESENT = frozenset({"was", "has"})
_UNDONE = frozenset({"reject", "rejected", "against", "bill", "oppose", "opposed", "fail", "failed", "veto", "vetoed"})
"""Words of a change that may not have come."""


def values_before_a_change(alignment: Alignment) -> Iterator[Mismatch]:
    """The figure before a change, where the claim gives it as that of the present."""
    claim, sentence = alignment.claim, alignment.sentence
    if not _is_of_the_present(claim):
        return
    for place in claim.of_kind(TermKind.NUMBER):
        before = "" if place == 0 else claim.terms[place - 1].key
        if before == "from" or claim.is_denied(place):
            continue
        for one in alignment.partners.get(place, ()):
            after = _changed_to(sentence, one)
            if len(alignment.partners[place]) > 1 or not _UNDONE.isdisjoint(term.key for term in sentence.terms):
                return  # the figure is said again, or the change never came
            if after is not None and sentence.terms[after].key not in alignment.claim_keys:
                yield Mismatch("value", (place,), (after,), excludes=True)
                return


def _changed_to(sentence: Reading, place: int) -> int | None:
    """The place of the figure after *to*, where this one follows *from* and a verb that changes it."""
    keys = [term.key for term in sentence.terms]
    clause = [one for one, number in enumerate(sentence.clauses) if number == sentence.clauses[place]]
    changes = any(keys[one] in CHANGING and is_verb(sentence.terms[one]) for one in clause if one < place)
    words = {sentence.words[one] for one in clause}
    if place == 0 or keys[place - 1] != "from" or not changes or not words.isdisjoint(PLANNING):
        return None
    for one in range(place + 1, min(place + 1 + REACH, len(keys) - 1)):
        if keys[one] == "to" and sentence.terms[one + 1].kind is TermKind.NUMBER:
            return one + 1
    return None


def _is_of_the_present(claim: Reading) -> bool:
    """Whether every verb of a claim is of the present: *is*, *costs*."""
    verbs = {term.surface.lower() for term in claim.terms if term.surface.lower() in lexicon.BE or is_verb(term)}
    return bool(verbs) and all(verb == "are" or verb.endswith("s") for verb in verbs) and verbs.isdisjoint(_NOT_PRESENT)
