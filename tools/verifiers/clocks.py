"""Times of day: *5:30 pm* and *17:30* are one, *9 am* and *9 pm* are not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factloop.tools.verifiers.terms import sentence_texts

MOST_TRIED = 3

_TIME = re.compile(
    r"(?<![\w.,:])(?P<hour>[01]?\d|2[0-3])(?:"
    r"(?:[:.](?P<past>[0-5]\d))? ?(?P<half>[ap])\.?m\b\.?"
    r"|:(?P<minute>[0-5]\d)(?![\d:]))",
    re.IGNORECASE,
)
_HALF = re.compile(r"\d ?[ap]\.?m\b", re.IGNORECASE)
MIN_PADDED = 2


class Time(NamedTuple):
    """A time of day in a text: where it stands, and the minute of the day that it is."""

    start: int
    end: int
    text: str
    hour: str
    """As the text spells it."""
    minutes: int
    is_sure: bool
    """Whether it tells the half of the day: *9:30* may be in the evening."""

    @property
    def on_dial(self) -> int:
        return self.minutes % 720


def has_times(text: str) -> bool:
    """Whether a text may have a time of day; most have none."""
    return ":" in text or _HALF.search(text) is not None


def times_of(text: str) -> Iterator[Time]:
    for found in _TIME.finditer(text) if has_times(text) else ():
        half, hour = (found["half"] or "").lower(), int(found["hour"])
        if half and not 0 < hour <= 12:
            continue
        hour = hour % 12 + 12 * (half == "p") if half else hour
        minutes = 60 * hour + int(found["past"] or found["minute"] or 0)
        is_sure = bool(half) or hour > 12 or (len(found["hour"]) == MIN_PADDED and hour < 10)
        yield Time(found.start(), found.end(), found[0], found["hour"], minutes, is_sure)


def in_other_times(claim: str, passages: Sequence[str]) -> Iterator[str]:
    """The claim with a time as the passages spell it: *closes at 17:30* of *closes at 5:30 pm*; none where they have no
    other spelling of it."""
    ours = list(times_of(claim))
    texts = (text for passage in passages if ours and has_times(passage) for text, _ in sentence_texts(passage))
    theirs = {other.text: other for text in texts for other in times_of(text)}
    said = (
        (one, two) for one in ours for two in theirs.values() if one.minutes == two.minutes and one.text != two.text
    )
    for tried, (one, other) in enumerate(said):
        if tried == MOST_TRIED:
            return
        yield f"{claim[: one.start]}{other.text}{claim[one.end :]}"
