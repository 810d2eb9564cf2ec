"""Ways: *from York to Leeds* where the evidence says *from Leeds to York*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import CONTENT
from factloop.tools.verifiers.verbs import is_verb

_BOTH_WAYS = frozenset({"back", "return", "both", "vice", "either", "round", "between"})
MAX_END = 5
"""Words of either end."""


def turned_ways(alignment: Alignment) -> Iterator[Mismatch]:
    """The two ends of a way exchanged, where the evidence has it in one direction alone."""
    ours = _ways(alignment.claim)
    theirs = _ways(alignment.sentence) if ours else ()
    if not theirs or not _BOTH_WAYS.isdisjoint(alignment.sentence.places):
        return
    for start, end in ours:
        turned = next(
            (one for one in theirs if _stand_in(alignment, start, one[1]) and _stand_in(alignment, end, one[0])), None
        )
        is_straight = any(_stand_in(alignment, start, one[0]) and _stand_in(alignment, end, one[1]) for one in theirs)
        if turned is not None and not is_straight:
            yield Mismatch("sides", (start[0], end[0]), (turned[0][0], turned[1][0]), excludes=True)
            return


def _stand_in(alignment: Alignment, ours: Sequence[int], theirs: Sequence[int]) -> bool:
    """Whether all words of one end are said in the other."""
    return all(any(one in theirs for one in alignment.partners.get(place, ())) for place in ours)


@kept
def _ways(reading: Reading) -> Sequence[tuple[Sequence[int], Sequence[int]]]:
    """The content of both ends of each *from … to …* within a clause."""
    ways = []
    for place in reading.places.get("from", ()):
        to = next(
            (one for one in range(place + 2, place + 2 + MAX_END) if reading.words[one : one + 1] == ("to",)), None
        )
        if to is None or reading.clauses[to] != reading.clauses[place]:
            continue
        start, end = _phrase(reading, place + 1, to), _phrase(reading, to + 1, to + 1 + MAX_END)
        if start and end:
            ways.append((start, end))
    return ways


def _phrase(reading: Reading, first: int, stop: int) -> list[int]:
    """The content from a place on, up to a preposition, a verb or the end of the clause."""

    def goes_on(place: int) -> bool:
        term = reading.terms[place]
        is_end = term.key in lexicon.PREPOSITIONS or term.key in lexicon.CONJUNCTIONS or is_verb(term)
        return not is_end and reading.clauses[place] == reading.clauses[first]

    within = takewhile(goes_on, range(first, min(stop, len(reading.terms))))
    return [place for place in within if reading.terms[place].kind in CONTENT]
