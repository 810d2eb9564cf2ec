"""Shares: *half of the patients* where the evidence says *21 percent*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import TermKind
from factloop.tools.verifiers.wording import NO_SHARE_BEFORE

Span = tuple[float, float]
"""The least and the most of a share, in percent."""

_HALF, _QUARTER, _THIRD = 50.0, 25.0, 100 / 3
_HALVES = frozenset({"half", "halves"})
_QUARTERS, _THIRDS = frozenset({"quarter", "quarters"}), frozenset({"third", "3rd", "thirds", "rds"})
_SHARES = _HALVES | _QUARTERS | _THIRDS
_TIMES = {"1": 1.0, "2": 2.0, "3": 3.0}
_DECIMAL = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
"""What is no version: *Alder 1.5.2*."""
LOOSENESS = 5.0
"""Percentage points by which people round to a fraction."""


def other_shares(alignment: Alignment) -> Iterator[Mismatch]:
    """A fraction on one side, and on the other percentages of which none is near it.

    Nothing where the evidence has the claim's percentage, or *half* in whatever place: it may speak of several shares.
    """
    ours, theirs = _fractions(alignment.claim), _fractions(alignment.sentence)
    if (ours and _names_half(alignment.sentence)) or _shares_percentage(alignment):
        return
    for (place, span), percentages in (
        *((one, _percentages(alignment.sentence)) for one in ours if not theirs),
        *((one, _percentages(alignment.claim)) for one in theirs if not ours),
    ):
        near = [other for other, value in percentages if span[0] <= value <= span[1]]
        if percentages and not near:
            other = percentages[0][0]
            claimed, said = (place, other) if ours else (other, place)
            yield Mismatch("value", (claimed,), (said,), excludes=True)
            return


def _names_half(reading: Reading) -> bool:
    return not _HALVES.isdisjoint(reading.words)


def _shares_percentage(alignment: Alignment) -> bool:
    said = {value for _, value in _percentages(alignment.sentence)}
    return any(value in said for _, value in _percentages(alignment.claim))


@kept
def _fractions(reading: Reading) -> Sequence[tuple[int, Span]]:
    """The place of each fraction of something, with what it may mean; "more than half" is anything from there."""
    found = []
    for place in [place for place, word in enumerate(reading.words) if word in _SHARES]:
        value = _fraction(reading, place, reading.words[place])
        if value is not None:
            words = reading.words[max(0, place - 3) : place]
            more, less = _bounds(words)
            low, high = value - LOOSENESS, value + LOOSENESS
            found.append((place, (low, 100.0) if more else (0.0, high) if less else (low, high)))
    return found


def _bounds(words: Sequence[str]) -> tuple[bool, bool]:
    """Whether the words before a fraction make it the least, or the most."""
    return ("than" in words and "more" in words) or "over" in words, "less" in words or "under" in words


def _fraction(reading: Reading, place: int, word: str) -> float | None:
    """The percentage of a fraction before *of* or *the*: *half of the seats*, but not *the second half of the year*."""
    following = [term.key for term in reading.terms[place + 1 : place + 2]]
    before = reading.terms[place - 1] if place else None
    if following not in (["of"], ["the"]) or (before is not None and before.surface.lower() in NO_SHARE_BEFORE):
        return None
    if word in _HALVES:
        return _HALF
    times = _TIMES.get(before.key, 1.0) if before is not None and before.kind is TermKind.NUMBER else 1.0
    if word in _QUARTERS:
        return _QUARTER * times
    is_third = before is not None and before.key in {"a", "one", "3", "2"}
    return (_THIRD * 2 if word in {"rds", "thirds"} else _THIRD) if is_third else None


@kept
def _percentages(reading: Reading) -> Sequence[tuple[int, float]]:
    """The place and value of each percentage."""
    following = zip(range(len(reading.terms)), reading.terms[1:], strict=False)
    numbers = [place for place, after in following if after.key == "percent"]
    found = [(place, reading.terms[place]) for place in numbers if reading.terms[place].kind is TermKind.NUMBER]
    return [(place, float(term.key)) for place, term in found if _DECIMAL.fullmatch(term.key)]
