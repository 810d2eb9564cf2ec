"""Finds days, months and years in a text, and generates other dates in the same format."""

from __future__ import annotations

import random
import re
from calendar import day_name, month_name, monthrange
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import count

from factloop.agents.trustscore.distractors.numbers import Format, Parts, alternation, cased_like, ordinal_suffix
from factloop.tools.text.words import ORDINALS

LATEST_YEAR = 2025
"""The latest year to substitute, unless the original is later than 2021. It is fixed to keep results reproducible."""
_NEAREST, _WANTED = 15, 35
_COMMON_YEAR = 2001
_CENTURIES = ORDINALS[:22]
_MONTHS, _WEEKDAYS = tuple(month_name)[1:], tuple(day_name)


def nearby_years(year: int, rng: random.Random) -> list[int]:
    span = max(_NEAREST, (LATEST_YEAR - year) // 20)
    earliest, latest = 1000 if year >= 1000 else 1, max(LATEST_YEAR, year + 4)
    near = [one for one in range(max(earliest, year - span), min(latest, year + span) + 1) if one != year]
    missing = max(0, _WANTED - len(near))
    below = range(max(earliest, year - span - missing), max(earliest, year - span))
    above = range(year + span + 1, min(latest, year + span + missing) + 1)
    return _shuffled(near, rng) + _shuffled([*below, *above], rng)


def _shuffled(values: Iterable[int], rng: random.Random) -> list[int]:
    listed = list(values)
    return rng.sample(listed, len(listed))


def _years(match: re.Match[str], rng: random.Random) -> Iterator[Parts]:
    return ({"year": str(year)} for year in nearby_years(int(match["year"]), rng))


def _spans(match: re.Match[str], rng: random.Random) -> Iterator[Parts]:
    first, until = int(match["year"]), match["until"]
    last = int(until) if len(until) == 4 else first + (int(until) - first) % 100
    for year in nearby_years(first, rng):
        moved = last + year - first
        if 1000 <= moved <= max(LATEST_YEAR, last + 4):
            yield {"year": str(year), "until": str(moved)[-len(until) :]}


def _decades(match: re.Match[str], rng: random.Random) -> Iterator[Parts]:
    own = int(match["decade"])
    first, last = (20, 90) if own < 100 else (max(1000, own - 200), min(max(LATEST_YEAR, own), own + 200))
    others = _shuffled((one for one in range(first, last + 1, 10) if one != own), rng)
    for other in sorted(others, key=lambda one: own >= 100 and abs(one - own) > 50):
        yield {"decade": str(other)}


def _centuries(match: re.Match[str], rng: random.Random) -> Iterator[Parts]:
    written, is_figure = match["century"], match["century"][0].isdigit()
    own = int(re.sub(r"\D", "", written)) if is_figure else _CENTURIES.index(written.lower().replace(" ", "-"))
    others = _shuffled((one for one in range(1, len(_CENTURIES)) if one != own), rng)
    for other in sorted(others, key=lambda one: abs(one - own) > 5):
        yield {"century": f"{other}{ordinal_suffix(other)}" if is_figure else cased_like(written, _CENTURIES[other])}


def _other_days(year: int | None, month: int, day: int, rng: random.Random) -> Iterator[date]:
    others = [_COMMON_YEAR] if year is None else nearby_years(year, rng)
    for turn in count():
        other = year if year is not None and turn % 3 == 1 else others[turn % len(others)]
        keeps_day = year is not None and turn % 3 == 0
        new_month, new_day = (month, day) if keeps_day else (rng.randint(1, 12), rng.randint(1, 31))
        yield date(other, new_month, min(new_day, monthrange(other, new_month)[1]))


def _days(match: re.Match[str], rng: random.Random) -> Iterator[Parts]:
    own = {name: part or "" for name, part in match.groupdict().items()}
    year = int(own["year"]) if own.get("year") else None
    month = next(n for n, name in enumerate(_MONTHS, 1) if name.lower().startswith(own["month"].lower()[:3]))
    for other in _other_days(year, month, int(own.get("day") or 1), rng):
        parts = {
            "month": _month_like(own["month"], other.month),
            "year": str(other.year),
            "day": _padded(other.day, own.get("day", "")),
            "suffix": cased_like(own.get("suffix", ""), ordinal_suffix(other.day)),
            "weekday": cased_like(own.get("weekday", ""), _WEEKDAYS[other.weekday()]),
        }
        yield {name: part for name, part in parts.items() if name in own}


def _month_like(original: str, number: int) -> str:
    is_short = original.capitalize() not in _MONTHS
    return cased_like(original, _MONTHS[number - 1][: 3 if is_short else None])


def _padded(value: int, like: str) -> str:
    return f"{value:02d}" if len(like) == 2 and like.startswith("0") else str(value)


def _months(match: re.Match[str], rng: random.Random) -> Iterator[Parts]:
    return ({"month": _month_like(match["month"], number)} for number in _shuffled(range(1, 13), rng))


_FULL_YEAR = r"1\d{3}|20\d{2}"
_YEAR = rf"(?P<year>{_FULL_YEAR})"
_BEFORE, _AFTER = r"(?<![\w/–-])(?<!\d[.,:])(?<![$€£¥₹])", r"(?![\w/–-]|[.,:]\d|\s?%)"
_JOINT = r"(?:\s?[-–—/]\s?|\s(?:to|until|till|through|and)\s)"
_MONTH = rf"\b(?P<month>{'|'.join(_MONTHS)}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b"
_WEEKDAY = rf"(?:\b(?P<weekday>{'|'.join(_WEEKDAYS)}),?\s+)?"
_DAY = r"(?<!\w)(?P<day>0?[1-9]|[12]\d|3[01])(?P<suffix>st|nd|rd|th)?(?!\w)"
_OF_YEAR = rf"(?:(?:,\s*|\s+){_YEAR}(?!\w))?"
_CLEAR_MONTH = _MONTH.replace("March|", "").replace("May|", "").replace("Mar|", "")
_PREPOSITIONS = ("in", "since", "until", "during", "by", "of", "early", "late", "next", "last")
_AFTER_PREPOSITION = "|".join(rf"(?<=\b{word}\s)" for word in _PREPOSITIONS)
FORMATS = tuple(
    Format(name, re.compile(pattern), rule)
    for name, pattern, rule in (
        ("date", rf"(?i){_WEEKDAY}(?<![\w-]){_MONTH}\.?\s+{_DAY}{_OF_YEAR}", _days),
        ("date", rf"(?i){_WEEKDAY}{_DAY}\s+(?:of\s+)?{_MONTH}\.?{_OF_YEAR}", _days),
        ("month and year", rf"(?i)(?<![\w-]){_MONTH}\.?,?\s+(?:of\s+)?{_YEAR}(?!\w)", _days),
        ("span of years", rf"{_BEFORE}{_YEAR}{_JOINT}(?P<until>{_FULL_YEAR}|(?<=[-–—/])\d{{2}}){_AFTER}", _spans),
        (
            "decade",
            r"(?<![\w.,$€£¥₹])['’]?(?P<decade>(?:(?:1\d|20)\d|(?:(?<=['’])|(?<=the )|(?<!.))[2-9])0)['’]?s(?!\w)",
            _decades,
        ),
        (
            "century",
            rf"(?i)(?<![\w-])(?P<century>(?:1\d|2[01]|[1-9])(?:st|nd|rd|th)|{alternation(_CENTURIES[1:])})"
            r"(?=(?:[ -]\w+){0,4}[ -]centur(?:y|ies)\b)",
            _centuries,
        ),
        ("year", rf"{_BEFORE}{_YEAR}(?!\w|[.,:]\d|\s?%|/\d)", _years),
        ("month", rf"(?i)(?<![\w'’-]){_CLEAR_MONTH}(?![-'’]?\w)", _months),
        # "may" and "march" are also ordinary words.
        ("month", rf"(?:{_AFTER_PREPOSITION}|^(?=\w+\W*$))(?P<month>March|May)(?![\w-])", _months),
    )
)
