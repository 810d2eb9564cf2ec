"""Comparisons: the sides of *than* exchanged, *less* for *more*, *more than* of two things that are the same."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import TermKind
from factloop.tools.verifiers.wording import LEVEL

NOUNS = frozenset({TermKind.NAME, TermKind.WORD})
_DEGREES = {"more": 1, "less": -1, "fewer": -1}


def direction(alignment: Alignment) -> int:
    """1 where claim and sentence compare two things the same way, -1 where the other way round, denials left aside;
    0 where either compares nothing, or other things."""
    sides = _sides_of_than(alignment)
    if sides is None:
        return 0
    straight, crossed = sides[0] > sides[1], sides[1] > sides[0]
    if straight == crossed:
        return 0
    is_turned = len(_turned(alignment)) % 2 == 1
    return 1 if straight != is_turned else -1


def exchanged_comparison(alignment: Alignment) -> Iterator[Mismatch]:
    """The two sides of "than" exchanged, and the comparison the same; or the same sides, and the opposite.

    What is not cheaper than beer may be, where beer is cheaper than it: a denial turns the comparison once more.
    """
    than, other = than_place(alignment.claim), than_place(alignment.sentence)
    if than is None or other is None or direction(alignment) >= 0:
        return
    if alignment.claim.is_denied(than) or alignment.sentence.is_denied(other):
        return
    turned = _turned(alignment)
    if len(turned) % 2 == 1:
        yield Mismatch("opposite", turned[0][:1], turned[0][1:], excludes=True)
    else:
        before, after = _nouns_around(alignment, than)
        yield Mismatch("sides", (before[0], after[0]), (other,), excludes=True)


def denied_the_other_way(alignment: Alignment) -> Iterator[Mismatch]:
    """A comparison that the sentence denies, said the other way round: what is not cheaper may cost as much."""
    than, other = than_place(alignment.claim), than_place(alignment.sentence)
    if than is None or other is None:
        return
    if alignment.sentence.is_denied(other) and not alignment.claim.is_denied(than):
        yield Mismatch("sides", (than,), (other,))


def _sides_of_than(alignment: Alignment) -> tuple[int, int] | None:
    """How many words stand on the same sides of "than", and how many on the other; None where either has no "than"."""
    than, other = than_place(alignment.claim), than_place(alignment.sentence)
    return None if than is None or other is None else sides_at(alignment, than, other)


def sides_at(alignment: Alignment, link: int, other: int) -> tuple[int, int]:
    """How many words stand on the same sides of these two places, and how many on the other: one of the claim, and one
    of the sentence."""
    before, after = _nouns_around(alignment, link)
    pairs = alignment.pairs
    straight = sum(pairs[one] < other < pairs[two] for one in before for two in after)
    crossed = sum(pairs[two] < other < pairs[one] for one in before for two in after)
    return straight, crossed


def _nouns_around(alignment: Alignment, than: int) -> tuple[list[int], list[int]]:
    """The nouns with a partner before and after "than" of the claim, less those whose partner is an opposite and those
    on both sides, which tell nothing: *model* of *model A is cheaper than model B*."""
    claim = alignment.claim
    nouns = [one for one in alignment.pairs if claim.terms[one].kind in NOUNS and one not in alignment.opposed]
    before, after = (
        {claim.terms[one].key for one in nouns if (one < than) == is_before} for is_before in (True, False)
    )
    telling = [one for one in nouns if claim.terms[one].key not in before & after]
    return [one for one in telling if one < than], [one for one in telling if one > than]


def _turned(alignment: Alignment) -> list[tuple[int, int]]:
    """The opposites before "than": *larger* and *smaller*, *more* and *less*."""
    than = than_place(alignment.claim)
    opposed = sorted(one for one in alignment.opposed if than is not None and one < than)
    return [*((one, alignment.pairs[one]) for one in opposed), *turned_degrees(alignment)]


def levelled_comparison(alignment: Alignment) -> Iterator[Mismatch]:
    """*More than* between two things that the sentence calls the same."""
    claim, sentence = alignment.claim, alignment.sentence
    than = than_place(claim)
    if than is None or claim.clause_denied[claim.clauses[than]]:
        return
    nouns = [one for one in claim.content if claim.terms[one].kind in NOUNS]
    sides = [[one for one in nouns if one < than][-1:], [one for one in nouns if one > than][:1]]
    level = [place for word in LEVEL for place in sentence.places.get(word, ())]
    for place in level:
        is_of_both = all(sentence.clauses[place] in alignment.clauses_of(one) for side in sides for one in side)
        if all(sides) and is_of_both and not sentence.is_denied(place):
            yield Mismatch("opposite", (_comparative(claim, than),), (place,), excludes=True)
            return


def _comparative(reading: Reading, than: int) -> int:
    """The place of *larger* or *more* before "than"; of "than" itself where none is."""
    words = reading.words[:than]
    found = [place for place, word in enumerate(words) if word in {"more", "less", "fewer"} or word.endswith("er")]
    return found[-1] if found else than


def other_degree(alignment: Alignment) -> Iterator[Mismatch]:
    """*Less power* where the sentence says *more power*; a comparison with *than* has sides, too."""
    if not both_compare(alignment):
        for ours, theirs in turned_degrees(alignment):
            if not (alignment.claim.is_denied(ours) or alignment.sentence.is_denied(theirs)):
                yield Mismatch("opposite", (ours,), (theirs,), excludes=True)


def turned_degrees(alignment: Alignment) -> list[tuple[int, int]]:
    """Places of *more* and *less* or *fewer* before one word, one in the claim and the other in the sentence."""
    before = ((place - 1, other - 1) for place, other in sorted(alignment.pairs.items()) if place and other)
    return [
        (ours, theirs)
        for ours, theirs in before
        if _degree(alignment.claim, ours) * _degree(alignment.sentence, theirs) < 0
    ]


def _degree(reading: Reading, place: int) -> int:
    return _DEGREES.get(reading.words[place], 0)


def both_compare(alignment: Alignment) -> bool:
    """Whether both sides have a "than"."""
    return than_place(alignment.claim) is not None and than_place(alignment.sentence) is not None


@kept
def than_place(reading: Reading) -> int | None:
    """The place of "than"; None without one."""
    return next(iter(reading.places.get("than", ())), None)
