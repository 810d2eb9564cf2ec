"""Times of day and the two ends of a span: *9 pm* for *9 am*, *starts on 17 April* for *from 3 March to 17 April*."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.clocks import Time, times_of
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import FIGURES, Term
from factloop.tools.verifiers.wording import AT_END, AT_START

_JOINING = frozenset({"to", "until", "till"})
_OF_DAY = frozenset({"am", "pm", "a.m.", "p.m.", "noon", "midnight"})
MAX_END = 4
"""Words of one end of a span."""


def other_halves_of_day(alignment: Alignment) -> Iterator[Mismatch]:
    """*9 pm* of the claim, where the evidence has 9 in the other half of the day alone."""
    ours = {place: time for place, time in _times(alignment.claim).items() if time.is_sure}
    theirs = _times(alignment.sentence) if ours else {}
    for place, time in ours.items():
        same = [other for other in theirs.values() if other.minutes == time.minutes or not other.is_sure]
        turned = [one for one, other in theirs.items() if other.is_sure and other.on_dial == time.on_dial]
        if turned and not any(other.on_dial == time.on_dial for other in same):
            yield Mismatch("value", (place, place + 1), (turned[0], turned[0] + 1), excludes=True)


@kept
def _times(reading: Reading) -> Mapping[int, Time]:
    """The times of day of a text, each by the place of its hour; of two with one hour the first."""
    found: dict[int, Time] = {}
    for number, sentence in enumerate(reading.sentences):
        for time in times_of(sentence.text):
            key = time.hour.lstrip("0") or "0"
            places = (one for one in reading.places.get(key, ()) if reading.sentence_at(one) == number)
            place = next((one for one in places if one not in found), None)
            if place is not None and place + 1 < len(reading.terms):
                found[place] = time
    return found


def other_ends_of_span(alignment: Alignment) -> Iterator[Mismatch]:
    """What the claim says begins at the end of a span, or ends at its beginning: *starts on 17 April* where the
    evidence says *runs from 3 March to 17 April*."""
    claim, sentence = alignment.claim, alignment.sentence
    figures = claim.of_kind(*FIGURES)
    starts = [place for place, term in enumerate(claim.terms) if term.key in AT_START]
    ends = [place for place, term in enumerate(claim.terms) if term.key in AT_END]
    if not figures or bool(starts) == bool(ends) or any(claim.clause_denied) or _spans(claim):
        return
    asked = {claim.terms[place].key for place in figures}
    for first, last in _spans(sentence):
        right, wrong = (first, last) if starts else (last, first)
        if (
            _holds(sentence, wrong, asked)
            and not _holds(sentence, right, asked)
            and not _is_said_apart(alignment, first)
        ):
            verb = (starts or ends)[0]
            yield Mismatch("value", tuple(sorted((verb, *figures))), tuple(right), excludes=True)
            return


def _holds(sentence: Reading, places: Sequence[int], asked: set[str]) -> bool:
    return asked <= {sentence.terms[place].key for place in places}


def _is_said_apart(alignment: Alignment, span: Sequence[int]) -> bool:
    """Whether the evidence says with a verb of its own, out of the clause of the span, what begins or ends."""
    sentence = alignment.sentence
    words = [place for place, term in enumerate(sentence.terms) if term.key in AT_START or term.key in AT_END]
    return any(sentence.clauses[place] != sentence.clauses[span[0]] for place in words)


@kept
def _spans(reading: Reading) -> Sequence[tuple[Sequence[int], Sequence[int]]]:
    """The places of the figures at both ends of each span: *from 3 March to 17 April*, *8 am to 6 pm*, *between 2012
    and 2015*."""
    found = []
    for place, word in enumerate(reading.words):
        if word in _JOINING or (word == "and" and "between" in reading.words[max(0, place - MAX_END) : place]):
            before = _run(reading, range(place - 1, max(-1, place - 1 - MAX_END), -1))
            after = _run(reading, range(place + 1, min(place + 1 + MAX_END, len(reading.terms))))
            if before and after:
                found.append((before, after))
    return found


def _run(reading: Reading, places: range) -> list[int]:
    """The places of the figures in a row from a place on, with what belongs to a time of day among them."""
    found: list[int] = []
    for place in places:
        if reading.terms[place].kind in FIGURES:
            found.append(place)
        elif not _belongs(reading.terms[place]):
            break
    return sorted(found)


def _belongs(term: Term) -> bool:
    return term.surface.lower() in _OF_DAY or term.key in {"the", "of"}
