"""Values of one attribute that exclude each other: *blinks orange* where the evidence says *blinks blue*."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import CONTENT, TermKind
from factloop.tools.verifiers.wording import ATTRIBUTES

REACH = 3
"""Words on either side in which stands what has the attribute."""


def other_attributes(alignment: Alignment) -> Iterator[Mismatch]:
    """Another value beside the same word, where the evidence has the claim's value nowhere and one other alone."""
    claim, sentence = alignment.claim, alignment.sentence
    for place, term in enumerate(claim.terms):
        group = _group(claim, place)
        if not group or claim.is_denied(place) or any(word in sentence.places for word in group[term.key]):
            continue
        others = [one for one, other in enumerate(sentence.terms) if other.key in group and _group(sentence, one)]
        beside = [one for one in others if not sentence.is_denied(one) and _are_beside_one(alignment, place, one)]
        if len(others) == 1 and beside:
            yield Mismatch("value", (place,), (beside[0],), excludes=True)


def _group(reading: Reading, place: int) -> dict[str, frozenset[str]]:
    """The values that this one excludes, each with its spellings; empty for a name: *Mr Brown*."""
    term = reading.terms[place]
    is_value = term.kind is TermKind.WORD and term.surface[:1].islower()
    return next((group for group in ATTRIBUTES if is_value and term.key in group), {})


def _are_beside_one(alignment: Alignment, place: int, other: int) -> bool:
    """Whether the word of content right before or right after is the same on both sides."""
    return any(
        ours is not None and theirs is not None and theirs in alignment.partners.get(ours, ())
        for step in (-1, 1)
        for ours, theirs in [
            (_content_beside(alignment.claim, place, step), _content_beside(alignment.sentence, other, step))
        ]
    )


def _content_beside(reading: Reading, place: int, step: int) -> int | None:
    """The nearest word of content in one direction, in the same clause, or right before a colon: *billed: annually*."""
    for one in range(place + step, place + step * (REACH + 1), step):
        is_label = one == place - 1
        if not 0 <= one < len(reading.terms) or not (is_label or reading.clauses[one] == reading.clauses[place]):
            return None
        if reading.terms[one].kind in CONTENT:
            return one
    return None
