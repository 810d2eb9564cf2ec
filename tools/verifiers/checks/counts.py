"""Counts: another number of what the claim counts, and which of several numbers it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.figures import (
    count_alike,
    counted,
    has_unit,
    is_ordinal,
    keeps_limit,
    limit_of,
    other_unit,
    unit_of,
)
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import TermKind
from factloop.tools.verifiers.wording import CHANGING, UNITS

MAX_FOREIGN = 2
"""Words around a number that count against it, at most."""
_WORDS = frozenset({TermKind.WORD, TermKind.NAME})
_SUMMING = frozenset({"total", "altogether", "combined", "overall"})


def other_counts(alignment: Alignment) -> Iterator[Mismatch]:
    """Another number of what the claim counts, or the same number in another unit; of several the one that stands most
    like the claim's, and none that the claim has elsewhere: of *48 euros* and *24 euros* the second."""
    claim, sentence = alignment.claim, alignment.sentence
    for place in claim.of_kind(TermKind.NUMBER):
        things = counted(claim, place)
        if not things or _is_sum(alignment, place):
            continue
        rivals: list[int] = []
        in_other_unit = stray = None
        for other in sentence.of_kind(TermKind.NUMBER):
            theirs = counted(sentence, other)
            one, two = unit_of(claim, things), unit_of(sentence, theirs)
            is_equal = claim.terms[place].key == sentence.terms[other].key
            like = count_alike(claim, things, sentence, theirs)
            if is_equal and one is not None and two is not None and other_unit(claim.terms[one], sentence.terms[two]):
                in_other_unit = Mismatch("value", (place, one), (other, two), excludes=True)
            elif is_equal and (like or (not theirs and not has_unit(claim, things))):
                break  # the sentence says it
            elif is_equal and things[0] in alignment.pairs and _is_measured(claim, place, things[0]):
                stray = Mismatch("value", (place, things[0]), (other, theirs[0])) if theirs else stray
            elif is_ordinal(claim, place) and not is_ordinal(sentence, other):
                continue  # the third tower is one of four
            elif _is_change(claim, place) != _is_change(sentence, other):
                continue  # what grew by 700 may have grown from 1,200
            elif claim.is_denied(place) != sentence.is_denied(other):
                continue  # where three did not finish, thirty-nine may have
            elif like and keeps_limit(claim, place, sentence, other):
                break  # a file of 20 MB is one of up to 25 MB
            elif like and not is_equal and not _has_elsewhere(claim, place, sentence, other):
                rivals.append(other)
        else:
            found = in_other_unit or _nearest_rival(alignment, place, rivals) or stray
            yield from (mismatch for mismatch in (found,) if mismatch is not None)


def _is_sum(alignment: Alignment, place: int) -> bool:
    """Whether the claim gives a sum, and the sentence but the parts of one: *32 people in total*."""
    claim, sentence = alignment.claim, alignment.sentence
    says_sum = not _SUMMING.isdisjoint(claim.words[place + 1 :]) and _SUMMING.isdisjoint(sentence.words)
    return says_sum and len(sentence.of_kind(TermKind.NUMBER)) > 1


def _is_change(reading: Reading, place: int) -> bool:
    """Whether a number tells by how much something changed: *grew by 700*."""
    follows = place > 0 and reading.words[place - 1] == "by"
    before = (one for one in range(place - 1) if reading.clauses[one] == reading.clauses[place])
    return follows and any(reading.terms[one].key in CHANGING for one in before)


def _is_measured(claim: Reading, place: int, thing: int) -> bool:
    """Whether a number stands right before its unit: *79 months*, but not *79 per month*."""
    return thing == place + 1 and claim.terms[thing].key in UNITS


def _has_elsewhere(claim: Reading, place: int, sentence: Reading, other: int) -> bool:
    """Whether another number of the claim is this one of the sentence, of the same things."""
    theirs = counted(sentence, other)
    twins = (
        one
        for one in claim.of_kind(TermKind.NUMBER)
        if one != place and claim.terms[one].key == sentence.terms[other].key
    )
    return any(count_alike(claim, counted(claim, one), sentence, theirs) for one in twins)


def _nearest_rival(alignment: Alignment, place: int, rivals: Sequence[int]) -> Mismatch | None:
    """The number around which stand the most words of the claim and the fewest others; of *48 euros for adults and 24
    euros for children* the second, where the claim speaks of children. It shows the claim to be false only where no
    other number is as like it."""
    if not rivals:
        return None
    ours = limit_of(alignment.claim, place)

    def likeness(other: int) -> int:
        around = _words_around(alignment.sentence, other, rivals)
        n_said = len({alignment.sentence.terms[one].key for one in around if one in own})
        is_limited_alike = ours is not None and limit_of(alignment.sentence, other) == ours
        return n_said - 2 * min(MAX_FOREIGN, sum(one not in own for one in around)) + is_limited_alike

    own = {one for places in alignment.partners.values() for one in places}
    ranked = sorted(rivals, key=likeness, reverse=True)
    is_clear = len(ranked) == 1 or likeness(ranked[0]) > likeness(ranked[1])
    return Mismatch("value", (place,), (ranked[0],), excludes=is_clear)


def _words_around(sentence: Reading, number: int, rivals: Sequence[int]) -> list[int]:
    """The places of the words in a number's clause, up to an *and* or another of the numbers."""
    found: list[int] = []
    for step in (-1, 1):
        place = number + step
        while 0 <= place < len(sentence.terms) and sentence.clauses[place] == sentence.clauses[number]:
            if place in rivals or sentence.terms[place].key == "and":
                break
            found += [place] if sentence.terms[place].kind in _WORDS else []
            place += step
    return found
