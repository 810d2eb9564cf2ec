"""Exceptions: *no deposit, except for cargo bikes* says the contrary of cargo bikes, and less than of all bikes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import CONTENT

REACH = 5
"""Words after *except* in which stands what is excepted."""
_EXCEPTING = frozenset({"except", "excepting", "excluding", "save"})
_FOR_ALL = frozenset({"all", "always", "any", "each", "every", "never", "whatever", "whichever", "without"})


def excepted(alignment: Alignment) -> Iterator[Mismatch]:
    """What the claim says of something that the evidence excepts from it, or of all."""
    claim, sentence = alignment.claim, alignment.sentence
    found = _exceptions(sentence)
    if not found or not _EXCEPTING.isdisjoint(claim.words):
        return
    partners = {one for places in alignment.partners.values() for one in places}
    for place, things in found:
        near = {sentence.sentence_at(place)}
        is_said_there = sentence.sentence_of[alignment.main] in near
        is_of_it = bool(things) and partners.issuperset(things) and not _tells_on(sentence, things[-1])
        is_of_all = is_said_there and not _FOR_ALL.isdisjoint(claim.words)
        if is_of_it or is_of_all:
            yield Mismatch("denial", (), (place,))
            return


@kept
def _exceptions(reading: Reading) -> Sequence[tuple[int, tuple[int, ...]]]:
    """The places of *except* with what is excepted after each."""
    places = [place for place, word in enumerate(reading.words) if word in _EXCEPTING]
    return [(place, _excepted_after(reading, place)) for place in places if not _is_saved(reading, place)]


def _is_saved(reading: Reading, place: int) -> bool:
    """Whether *save* is a verb: *save money*, not *save for Sundays*."""
    following = reading.words[place + 1 : place + 2]
    return reading.words[place] == "save" and following != ("for",)


def _tells_on(reading: Reading, place: int) -> bool:
    """Whether a sentence goes on about what it excepts: *walk-in, except for scans, which need an appointment*."""
    if reading.words[place + 1 : place + 2] not in {("which",), ("who",), ("that",)}:
        return False
    return reading.sentence_at(place + 1) == reading.sentence_at(place)


def _excepted_after(reading: Reading, place: int) -> tuple[int, ...]:
    found: list[int] = []
    for one in range(place + 1, min(place + 1 + REACH, len(reading.terms))):
        if reading.clauses[one] != reading.clauses[place]:
            break
        if reading.terms[one].kind in CONTENT:
            found.append(one)
    return tuple(found)
