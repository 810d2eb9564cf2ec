"""Comparisons with *as ... as*: *is as tall as*, and *is not as tall as*, which says *is shorter than*."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.comparisons import sides_at, than_place
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import FIGURES, TermKind

REACH = 3
"""Words between the two *as*."""
_NO_COMPARISON = frozenset({"well", "soon", "far", "such", "if", "though"})
"""What makes no comparison between two *as*: *as well as*."""
_FACTORS = frozenset({"twice", "half", "thrice", "times", "nearly", "almost"})
"""Before *as*: it is not as much, but so many times as much."""


@dataclass(frozen=True)
class _Comparison:
    """How the left side of a comparison stands to its right one."""

    link: int
    """The place of *than*, or of the second *as*."""
    sign: int | None
    """1 for more, -1 for less, 0 for as much; None where it says none of these surely."""
    degree: int
    """The place of what is compared: *taller*, *tall*."""


def compares_in(alignment: Alignment, clause: int) -> bool:
    """Whether this clause of the claim, or the clause with most of it, compares with *as ... as*; not where both do so
    of the same sides, so that a *not* is a denial like any other."""
    ours, theirs = equative_place(alignment.claim), equative_place(alignment.sentence)
    is_ours = ours is not None and alignment.claim.clauses[ours] == clause
    is_theirs = theirs is not None and alignment.sentence.clauses[theirs] == alignment.main
    if ours is None or theirs is None or not (is_ours and is_theirs):
        return is_ours or is_theirs
    straight, crossed = sides_at(alignment, ours, theirs)
    return crossed >= straight


def has_equative(alignment: Alignment) -> bool:
    """Whether the claim or the sentence compares with *as ... as*."""
    return any(equative_place(one) is not None for one in (alignment.claim, alignment.sentence))


@kept
def equative_place(reading: Reading) -> int | None:
    """The place of the second *as* of *as tall as*; None without one, and for *as well as* and *as many as 30*."""
    words = reading.words
    places = [place for place, word in enumerate(words) if word == "as"]
    for one, two in pairwise(places):
        between, following = words[one + 1 : two], reading.terms[two + 1 : two + 2]
        is_short = 0 < len(between) <= REACH and reading.clauses[one] == reading.clauses[two]
        if is_short and between[0] not in _NO_COMPARISON and following and following[0].kind not in FIGURES:
            return two
    return None


def equated(alignment: Alignment) -> Iterator[Mismatch]:
    """A comparison that the sentence has otherwise, where one of the two is made with *as ... as*."""
    ours, theirs = _comparison(alignment.claim), _comparison(alignment.sentence)
    if not has_equative(alignment) or ours is None or theirs is None or None in {ours.sign, theirs.sign}:
        return
    straight, crossed = sides_at(alignment, ours.link, theirs.link)
    if straight == crossed or not _are_one_degree(alignment, ours.degree, theirs.degree):
        return
    is_turned = (crossed > straight) != (ours.degree in alignment.opposed)
    said = -(theirs.sign or 0) if is_turned else theirs.sign or 0
    if said != ours.sign:
        is_surely_false = said < 0 or ours.sign != 0  # what is taller is also as tall
        yield Mismatch("opposite", (ours.degree,), (theirs.degree,), excludes=is_surely_false)


def _are_one_degree(alignment: Alignment, ours: int, theirs: int) -> bool:
    """Whether two words compare by the same: *tall* and *taller*, *hot* and *hotter*, or by its opposite."""
    words = alignment.claim.words[ours], alignment.sentence.words[theirs]
    short, long = sorted(words, key=len)
    return theirs in alignment.partners.get(ours, ()) or (long.startswith(short) and long.endswith("er"))


def _comparison(reading: Reading) -> _Comparison | None:
    """The one comparison of a reading; None where it makes none, or several."""
    than, equative = than_place(reading), equative_place(reading)
    if (than is None) == (equative is None):
        return None
    if equative is not None:
        first = max(place for place in range(equative) if reading.words[place] == "as")
        before = reading.words[first - 1] if first else ""
        is_multiple = before in _FACTORS or (first > 0 and reading.terms[first - 1].kind is TermKind.NUMBER)
        is_less = reading.is_denied(equative)
        return _Comparison(equative, None if is_multiple else -1 if is_less else 0, equative - 1)
    place = than or 0
    word = reading.words[place - 1]
    before = reading.words[place - 2] if place > 1 else ""
    sign = -1 if "less" in {word, before} else 1
    return _Comparison(place, None if reading.is_denied(place) else sign, place - 1)
