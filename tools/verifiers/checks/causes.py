"""Causes: *because of a drought* where the evidence says *because of a fungus*, or *not because of a drought*."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.verifiers.alignment import Alignment, says_same
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import CONTENT, TermKind

_OPENINGS = frozenset({("because", "of"), ("due", "to"), ("owing", "to"), ("thanks", "to"), ("account", "of")})
REACH = 5
"""Words after *because of* in which the cause stands."""
DENIAL_REACH = 3
"""Words before *because of* in which a *not* denies the cause."""


def other_causes(alignment: Alignment) -> Iterator[Mismatch]:
    """A cause in the place of the claim's, or the claim's denied; none where the sentence has both."""
    claim, sentence = alignment.claim, alignment.sentence
    for place, denied in _causes(claim):
        others = list(_causes(sentence))
        same = [is_denied for other, is_denied in others if says_same(claim.terms[place], sentence.terms[other])]
        strange = [other for other, is_denied in others if not is_denied and other not in alignment.paired]
        if same:
            if denied not in same:
                told = next(other for other, _ in others if says_same(claim.terms[place], sentence.terms[other]))
                yield Mismatch("denial", (place,), (told,), excludes=True)
        elif strange and not denied:
            yield Mismatch("value", (place,), (strange[0],), excludes=True)


def _causes(reading: Reading) -> Iterator[tuple[int, bool]]:
    """The first word of content after each *because of*, and whether it is denied."""
    words = reading.words
    for start in range(len(words) - 2):
        if (words[start], words[start + 1]) in _OPENINGS:
            after = range(start + 2, min(start + 2 + REACH, len(words)))
            cause = next((place for place in after if reading.terms[place].kind in CONTENT), None)
            before = reading.terms[max(0, start - DENIAL_REACH) : start]
            if cause is not None:
                yield cause, any(term.kind is TermKind.NEGATION for term in before)
