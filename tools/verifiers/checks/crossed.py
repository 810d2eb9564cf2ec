"""Crossed pairs: *the trust owns 82 % and the family 18 %* where the evidence pairs them the other way round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import FIGURES, SentenceTerms, TermKind

MOST_OF_SIDE = 8
"""Words of a side of the claim that are paired; longer sides say more than one thing."""
MOST_WITHOUT_FIGURES = 8
"""Words of content of a claim whose pairs have no figures: a longer one is put in other words and another order."""
_PARTING = frozenset({"and", "but", "while", "whereas"})
_PARTING_MARKS = frozenset({",", ";"})


def crossed_pairs(alignment: Alignment) -> Iterator[Mismatch]:
    """A word of each side of the claim beside one of the other side, in two places of the sentence, and nowhere beside
    its own: of *A did x and B did y* the sentence has *A did y* and *B did x*."""
    claim, sentence = alignment.claim, alignment.sentence
    sides = _sides(alignment)
    if sides is None:
        return
    one, two = sides
    for (x, other_x), (y, other_y) in ((a, b) for a in permutations(one, 2) for b in permutations(two, 2)):
        if not _has_figure_each(claim, (x, other_x), (y, other_y)) and len(claim.content) > MOST_WITHOUT_FIGURES:
            continue
        places = {word: _segments_of(alignment, word) for word in (x, other_x, y, other_y)}
        if places[x] & places[other_x] or places[y] & places[other_y]:
            continue
        here, there = places[x] & places[y], places[other_x] & places[other_y]
        if here and there and len(here | there) > 1:
            said = next(place for place in alignment.partners[y] if _segments(sentence)[place] in here)
            both = {claim.terms[other_x].kind, sentence.terms[said].kind}
            yield Mismatch("value", (other_x,), (said,), excludes=both <= FIGURES)
            return


def _has_figure_each(claim: Reading, *pairs: tuple[int, int]) -> bool:
    """Whether each of these pairs of words is a figure and what is no figure."""
    return all(sum(claim.terms[place].kind in FIGURES for place in pair) == 1 for pair in pairs)


def _sides(alignment: Alignment) -> tuple[list[int], list[int]] | None:
    """The words with partners that one of the two parts of the claim alone has; None for other claims."""
    claim = alignment.claim
    segments = _segments(claim)
    if len(set(segments)) != 2:
        return None
    sides = [
        [
            place
            for place in claim.content
            if segments[place] == number and place in alignment.pairs and place not in alignment.opposed
        ]
        for number in sorted(set(segments))
    ]
    keys = [{claim.terms[place].key for place in side} for side in sides]
    one, two = (
        [place for place in side if claim.terms[place].key not in others]
        for side, others in zip(sides, reversed(keys), strict=True)
    )
    is_fit = all(2 <= len(side) <= MOST_OF_SIDE for side in (one, two))
    return (one, two) if is_fit else None


def _segments_of(alignment: Alignment, place: int) -> set[int]:
    segments = _segments(alignment.sentence)
    return {segments[partner] for partner in alignment.partners[place]}


@kept
def _segments(reading: Reading) -> Sequence[int]:
    """The part of a sentence that each place stands in: between *and*, commas and semicolons; a row is one part."""
    numbers: list[int] = []
    number = 0
    for sentence in reading.sentences:
        is_row = _is_row(sentence)
        for term in sentence.terms:
            if term.kind is TermKind.MARK:
                number += term.surface in _PARTING_MARKS and not is_row
            else:
                number += term.key in _PARTING and not is_row
                numbers.append(number)
        number += 1
    return numbers


def _is_row(sentence: SentenceTerms) -> bool:
    return sentence.text.count(": ") > 1 and "; " in sentence.text
