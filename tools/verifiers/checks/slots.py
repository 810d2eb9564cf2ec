"""The one word that differs: "made of granite" where the evidence says "made of oak"."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, is_verb
from factloop.tools.verifiers.terms import CONTENT, FIGURES

REACH = 4
"""Words back in which the word stands that a preposition belongs to."""


def other_fillings(alignment: Alignment) -> Iterator[Mismatch]:
    """Another word after the same word and preposition, where the evidence holds all else of the claim."""
    claim, sentence = alignment.claim, alignment.sentence
    lacking = [place for place in claim.content() if place not in alignment.pairs]
    if len(lacking) != 1 or claim.terms[lacking[0]].kind in FIGURES or is_verb(claim.terms[lacking[0]]):
        return
    place = lacking[0]
    slot = _slot(claim, place)
    if slot is None or slot[0] not in alignment.pairs:
        return
    start = alignment.pairs[slot[0]] + 1
    following = range(start, min(start + REACH, len(sentence.terms)))
    other = next((one for one in following if sentence.terms[one].kind in CONTENT), None)
    if other is None or other in alignment.paired or sentence.terms[other].kind is not claim.terms[place].kind:
        return
    if _slot(sentence, other) == (start - 1, slot[1]):
        yield Mismatch("value", (place,), (other,))


def _slot(reading: Reading, place: int) -> tuple[int, str] | None:
    """The word before, and the preposition between."""
    preposition: str | None = None
    for one in range(place - 1, max(-1, place - 1 - REACH), -1):
        term = reading.terms[one]
        if reading.clauses[one] != reading.clauses[place]:
            return None
        if term.kind in CONTENT:
            return None if preposition is None else (one, preposition)
        if preposition is None and term.key in lexicon.PREPOSITIONS:
            preposition = term.key
    return None
