"""Durations: *an hour* where the evidence says *30 minutes*. Equal ones in other units agree: *a day*, *24 hours*."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.figures import limit_of
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import TermKind

_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MONTHS = {"month": 1, "year": 12, "decade": 120, "century": 1_200}
"""Apart from the seconds: people count four weeks as a month."""
_ONE = frozenset({"a", "an"})
_LAST = frozenset({"for", "within", "after", "in", "takes", "take", "took", "lasts", "last", "lasted"})
"""Words before a duration: *an hour a day* and *twice a day* do not say how long something lasts."""


def other_durations(alignment: Alignment) -> Iterator[Mismatch]:
    """*An hour* of the claim, where the sentence with most of it gives one other duration."""
    for units in (_SECONDS, _MONTHS):
        yield from _other_durations(alignment, units)


def _other_durations(alignment: Alignment, units: Mapping[str, int]) -> Iterator[Mismatch]:
    claim, sentence = alignment.claim, alignment.sentence
    for place, length in _durations(claim, units):
        if claim.terms[place - 1].kind is TermKind.NUMBER:
            continue  # the counts are compared elsewhere
        everywhere = list(_durations(sentence, units))
        told = [(one, other) for one, other in everywhere if sentence.clauses[one] == alignment.main]
        is_other = len(told) == 1 and told[0][1] != length and not _is_told(alignment, length, everywhere)
        ours = limit_of(claim, place - 1)
        if is_other and not _keeps_limit(ours, told[0][1] - length):
            theirs = limit_of(sentence, told[0][0] - 1) if ours is None else None
            is_within = _keeps_limit(theirs, length - told[0][1])
            yield Mismatch("value", (place - 1, place), (told[0][0] - 1, told[0][0]), excludes=not is_within)


def _is_told(alignment: Alignment, length: float, durations: Sequence[tuple[int, float]]) -> bool:
    """Whether a clause gives this duration that holds as much of the claim as any: of *2 years on frames, 1 year on
    lamps* the second, where the claim speaks of lamps."""

    def n_held(clause: int) -> int:
        return sum(clause in alignment.clauses_of(place) for place in alignment.partners)

    clauses = {alignment.sentence.clauses[place] for place, other in durations if other == length}
    return any(n_held(clause) >= n_held(alignment.main) for clause in clauses)


def _keeps_limit(limit: str | None, more: float) -> bool:
    """Whether a duration keeps the limit that is made of one so much shorter."""
    return (limit == "at least" and more > 0) or (limit == "at most" and more < 0)


def _durations(reading: Reading, units: Mapping[str, int]) -> Iterator[tuple[int, float]]:
    """The place of each of these units that is counted, with how long it makes."""
    for place, term in enumerate(reading.terms):
        unit = units.get(term.key)
        before = reading.terms[place - 1] if place else None
        if unit is None or before is None:
            continue
        if before.kind is TermKind.NUMBER and before.key.replace(".", "", 1).isdigit():
            yield place, float(before.key) * unit
        elif before.key == "one" or (before.key in _ONE and _lasts(reading, place - 2)):
            yield place, unit


def _lasts(reading: Reading, place: int) -> bool:
    return place >= 0 and reading.words[place] in _LAST
