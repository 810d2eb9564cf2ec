"""Slots: "made of granite" where the evidence says "made of oak", "the Team plan" for "the Enterprise plan", "a hammer
and a saw" for "a hammer and a chisel"."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, is_verb
from factloop.tools.verifiers.terms import CONTENT, FIGURES, TermKind

REACH = 4
"""Words back in which the word stands that a preposition belongs to."""
_ARTICLES = frozenset({"a", "an", "the", "its", "their", "some"})


def other_fillings(alignment: Alignment) -> Iterator[Mismatch]:
    """Another word in the slot of the one that the evidence lacks, or of a name that it has elsewhere."""
    claim = alignment.claim
    lacking = [place for place in claim.content if place not in alignment.pairs]
    moved = [place for place in claim.of_kind(TermKind.NAME) if place in alignment.pairs]
    for place in [*(lacking if len(lacking) == 1 else ()), *moved]:
        if claim.terms[place].kind in FIGURES or is_verb(claim.terms[place]):
            continue
        other = _after_preposition(alignment, place)
        if other is None and place in lacking:
            other = _after_and(alignment, place)
        if other is not None and alignment.sentence.clauses[other] in alignment.clauses_of(place):
            continue  # "on Team and Enterprise"
        if other is None and place in moved:
            other = _before_noun(alignment, place)
        if other is None or claim.terms[place].key == alignment.sentence.terms[other].key:
            continue
        if not alignment.sentence.phrase_denied[other]:
            yield Mismatch("value", (place,), (other,))


def _after_preposition(alignment: Alignment, place: int) -> int | None:
    """The word that stands in the sentence where this one stands in the claim; None where it is itself, or unlike."""
    claim, sentence = alignment.claim, alignment.sentence
    slot = _slot(claim, place)
    if slot is None or slot[0] not in alignment.pairs:
        return None
    start = alignment.pairs[slot[0]] + 1
    following = range(start, min(start + REACH, len(sentence.terms)))
    other = next((one for one in following if sentence.terms[one].kind in CONTENT), None)
    if other is None or other in alignment.paired or sentence.terms[other].kind is not claim.terms[place].kind:
        return None
    return other if _slot(sentence, other) == (start - 1, slot[1]) else None


def _after_and(alignment: Alignment, place: int) -> int | None:
    """The word after *and* that follows the same word as in the claim: of *a hammer and a chisel*, where the claim has
    *a hammer and a saw*."""
    claim, sentence = alignment.claim, alignment.sentence
    joined = _joined_to(claim, place)
    if joined is None or joined not in alignment.pairs:
        return None
    start = alignment.pairs[joined] + 1
    following = range(start, min(start + REACH, len(sentence.terms)))
    other = next((one for one in following if sentence.terms[one].kind in CONTENT), None)
    if other is None or other in alignment.paired or _joined_to(sentence, other) != start - 1:
        return None
    return (
        other if sentence.terms[other].kind is claim.terms[place].kind and not is_verb(sentence.terms[other]) else None
    )


def _joined_to(reading: Reading, place: int) -> int | None:
    """The word that *and* joins a word to, with but an article between: *hammer* for the *saw* of *a hammer and a
    saw*."""
    joining = place - 2 if place > 1 and reading.terms[place - 1].key in _ARTICLES else place - 1
    is_joined = joining > 0 and reading.terms[joining].key == "and" and reading.terms[joining - 1].kind in CONTENT
    return joining - 1 if is_joined else None


def _before_noun(alignment: Alignment, place: int) -> int | None:
    """The name before the noun of the main clause that this name stands before: "on the Team plan"."""
    claim, sentence = alignment.claim, alignment.sentence
    noun = place + 1
    if alignment.main in alignment.clauses_of(place) or noun not in alignment.pairs:
        return None
    other = alignment.pairs[noun] - 1
    if claim.terms[noun].kind is not TermKind.WORD or other < 0 or sentence.clauses[other + 1] != alignment.main:
        return None
    return other if sentence.terms[other].kind is TermKind.NAME and other not in alignment.paired else None


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
