"""The words of a sentence that fail: those that the judge names, else the words of the claim alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from factloop.core.records import Claim
from factloop.reports.claims import PROBLEMS, ClaimView, Status, status_of
from factloop.tools.text.rows import cell_of

_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
_LEAST_SHARE = 0.5
"""Of a claim's words that its sentence must have, in their order; below, the claim is worded too freely to be found."""
_WIDEST_GAP = 2
"""Words of no claim between words of one that are marked with them."""

Span = tuple[int, int]


@dataclass(frozen=True)
class Fault:
    """Words of a sentence that fail, from `start` to `end` in characters, and what is said of them."""

    start: int
    end: int
    status: Status
    said: str


def faults(sentence: str, claims: Sequence[Claim], table_head: str | None = None) -> tuple[Fault, ...]:
    """The words that fail among the claims of a sentence, in order and apart; empty where none of them fails.

    The words that the judge names; else those of the claim that no claim beside it has too; else the whole sentence.
    In the row of a table, whose head is given, those that the judge names are looked for in the cell that the claim is
    about, then in the whole row; where it has none of them, the cell fails.
    """
    found: list[Fault] = []
    for status in PROBLEMS:  # where two meet, the words are those of the graver one
        for claim in claims:
            if status_of(claim) is status:
                said = ClaimView(claim).source_says or status.words
                failing = _failing(sentence, claim, claims, table_head)
                found += [Fault(start, end, status, said) for start, end in _free(failing, found)]
    return tuple(sorted(found, key=lambda fault: fault.start))


def _failing(sentence: str, claim: Claim, claims: Sequence[Claim], table_head: str | None) -> list[Span]:
    cell = None if table_head is None else cell_of(claim.text, sentence, table_head)
    if cell is None:
        named = _named(sentence, claim.judgement.wrong)
        return [named] if named is not None else _own_words(sentence, claim, claims)
    start, end = cell
    within = _named(sentence[start:end], claim.judgement.wrong)
    if within is not None:
        return [(start + within[0], start + within[1])]
    return [_named(sentence, claim.judgement.wrong) or cell]


def _named(sentence: str, wrong: str) -> Span | None:
    words = wrong.split()
    if not words:
        return None
    pattern = r"\s+".join(map(re.escape, words))
    found = re.search(rf"(?<!\w){pattern}(?!\w)", sentence, re.IGNORECASE)
    return found.span() if found else None


def _own_words(sentence: str, claim: Claim, claims: Sequence[Claim]) -> list[Span]:
    words = list(_WORD.finditer(sentence))
    own = _matched(words, claim.text)
    if len(own) < _LEAST_SHARE * len(_WORD.findall(claim.text)) or not own:
        return [(0, len(sentence))]
    others = frozenset().union(*(_matched(words, one.text) for one in claims if status_of(one) not in PROBLEMS))
    kept = sorted(own - others or own)
    if len(kept) == len(words):
        return [(0, len(sentence))]
    return [(words[first].start(), words[last].end()) for first, last in _joined(kept, others)]


def _matched(words: Sequence[re.Match[str]], text: str) -> frozenset[int]:
    """The words of the sentence that the text has in the same order, by their places."""
    mine = [word[0].casefold() for word in words]
    theirs = [word.casefold() for word in _WORD.findall(text)]
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    return frozenset(at for block in blocks for at in range(block.a, block.a + block.size))


def _joined(places: Sequence[int], others: frozenset[int]) -> Iterator[Span]:
    """Stretches of places, first and last, over gaps of a few words that are of no other claim."""
    first = last = places[0]
    for place in places[1:]:
        between = range(last + 1, place)
        if len(between) > _WIDEST_GAP or not others.isdisjoint(between):
            yield first, last
            first = place
        last = place
    yield first, last


def _free(spans: Sequence[Span], taken: Sequence[Fault]) -> list[Span]:
    """The spans that do not meet what another claim fails for; none if the last does, which is what is said."""
    free = [(start, end) for start, end in spans if not any(start < one.end and one.start < end for one in taken)]
    return free if spans and spans[-1] in free else []
