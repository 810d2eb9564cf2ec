"""Finds the wrong words in a sentence: words that the judge names, or words that occur only in a wrong claim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from factloop.core.records import Claim
from factloop.reports.claims import PROBLEMS, ClaimView, Status, status_of
from factloop.reports.differences import place_of_words
from factloop.tools.text.rows import cell_of

_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
_LEAST_SHARE = 0.5
"""A claim's words are marked only if its sentence contains at least this fraction of them, in the same order."""
_MOST_WORDS = 300  # longer sentences are marked as a whole, because comparing them would take too long
_WIDEST_GAP = 2  # maximum number of words between two marked words that are also marked if no other claim contains them

Span = tuple[int, int]


@dataclass(frozen=True)
class Fault:
    """Wrong words in a sentence, from `start` to `end` in characters. In a table row, correct cells are included."""

    start: int
    end: int
    status: Status
    said: str
    claim: str = ""
    """The id of the claim that contains these words."""


def faults(sentence: str, claims: Sequence[Claim], table_head: str | None = None) -> tuple[Fault, ...]:
    """Returns the wrong words in a sentence according to its claims, in order and without overlaps.

    If the judge does not name them, these are the words that no correct claim contains, or else the whole sentence. In
    a table row (with the header `table_head`), the words that the judge names are looked up first in the claim's cell
    and then in the row. If they occur in neither, the whole cell is treated as wrong. Correct cells are included.
    """
    found: list[Fault] = []
    for status in PROBLEMS:  # if two faults overlap, the more serious one gets the words
        for claim in claims:
            if status_of(claim) is status:
                said = ClaimView(claim).source_says or status.words
                failing = _failing(sentence, claim, claims, table_head)
                found += [Fault(start, end, status, said, claim.id) for start, end in _free(failing, found)]
    if table_head is not None:
        for claim in claims:
            status, cell = status_of(claim), cell_of(claim.text, sentence, table_head)
            holding = _free([cell], found) if cell is not None and status not in PROBLEMS else []
            found += [Fault(start, end, status, status.words, claim.id) for start, end in holding]
    return tuple(sorted(found, key=lambda fault: fault.start))


def _failing(sentence: str, claim: Claim, claims: Sequence[Claim], table_head: str | None) -> list[Span]:
    cell = None if table_head is None else cell_of(claim.text, sentence, table_head)
    if cell is None:
        named = place_of_words(sentence, claim.judgement.wrong)
        return [named] if named is not None else _own_words(sentence, claim, claims)
    start, end = cell
    within = place_of_words(sentence[start:end], claim.judgement.wrong)
    if within is not None:
        return [(start + within[0], start + within[1])]
    return [place_of_words(sentence, claim.judgement.wrong) or cell]


def _own_words(sentence: str, claim: Claim, claims: Sequence[Claim]) -> list[Span]:
    words = list(_WORD.finditer(sentence))
    if len(words) > _MOST_WORDS:
        return [(0, len(sentence))]
    own = _matched(sentence, claim.text)
    if len(own) < _LEAST_SHARE * len(_WORD.findall(claim.text)) or not own:
        return [(0, len(sentence))]
    others = frozenset().union(*(_matched(sentence, one.text) for one in claims if status_of(one) not in PROBLEMS))
    kept = sorted(own - others or own)
    if len(kept) == len(words):
        return [(0, len(sentence))]
    return [(words[first].start(), words[last].end()) for first, last in _joined(kept, others)]


@lru_cache(1_000)  # otherwise, each claim of a sentence would be compared for every other one
def _matched(sentence: str, text: str) -> frozenset[int]:
    mine, theirs = ([word.casefold() for word in _WORD.findall(one)] for one in (sentence, text))
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    return frozenset(at for block in blocks for at in range(block.a, block.a + block.size))


def _joined(places: Sequence[int], others: frozenset[int]) -> Iterator[Span]:
    first = last = places[0]
    for place in places[1:]:
        between = range(last + 1, place)
        if len(between) > _WIDEST_GAP or not others.isdisjoint(between):
            yield first, last
            first = place
        last = place
    yield first, last


def _free(spans: Sequence[Span], taken: Sequence[Fault]) -> list[Span]:
    free = [(start, end) for start, end in spans if not any(start < one.end and one.start < end for one in taken)]
    return free if spans and spans[-1] in free else []
