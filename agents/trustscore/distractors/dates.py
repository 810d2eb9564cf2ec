"""Days, months, weekdays and times: where a text has them, and others of the same form that the calendar has."""

from __future__ import annotations

import random
import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from itertools import count

from factloop.agents.trustscore.distractors import years
from factloop.agents.trustscore.distractors.formats import Format, Others, cased_like, rewritten, shuffled
from factloop.agents.trustscore.distractors.number_words import ordinal_suffix
from factloop.agents.trustscore.distractors.years import AFTER, BEFORE, YEAR, nearby_years

_COMMON_YEAR = 2001
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MONTH = rf"\b(?P<month>{'|'.join(_MONTHS)}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b"
_WEEKDAY = rf"(?:\b(?P<weekday>{'|'.join(_WEEKDAYS)}),?\s+)?"
_DAY = r"(?<!\w)(?P<day>0?[1-9]|[12]\d|3[01])(?P<suffix>st|nd|rd|th)?(?!\w)"
_HALF = r"\s?[ap](?:\.m\.|m\b)"


def _other_days(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    """Dates with a month's name: by turns another year, another day, or both."""
    groups = match.groupdict()
    own_month, own_day = _month_number(groups["month"]), int(groups.get("day") or 1)
    own_year = int(groups.get("year") or _COMMON_YEAR)
    others = nearby_years(own_year, rng) if groups.get("year") else [own_year]
    for turn in count():
        year = own_year if turn % 3 == 1 else others[turn % len(others)]
        keeps_day = turn % 3 == 0 and bool(groups.get("year"))
        month, day = (own_month, own_day) if keeps_day else (rng.randint(1, 12), rng.randint(1, 31))
        yield _day_written(match, date(year, month, min(day, monthrange(year, month)[1])))


def _day_written(match: re.Match[str], day: date) -> str:
    groups = match.groupdict()
    parts = {
        "month": _month_like(groups["month"], day.month),
        "year": str(day.year),
        "day": _padded(day.day, groups.get("day") or ""),
        "suffix": cased_like(groups.get("suffix") or "", ordinal_suffix(day.day)),
        "weekday": cased_like(groups.get("weekday") or "", _WEEKDAYS[day.weekday()]),
    }
    return rewritten(match, {name: part for name, part in parts.items() if groups.get(name)})


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.lower().startswith(name.lower()[:3]))


def _month_like(original: str, number: int) -> str:
    is_short = original.capitalize() not in _MONTHS
    return cased_like(original, _MONTHS[number - 1][: 3 if is_short else None])


def _padded(value: int, like: str) -> str:
    return f"{value:02d}" if len(like) == 2 and like.startswith("0") else str(value)


def _other_figures(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    """*06/05/1983*: where day and month cannot be told apart both stay below 13, so that either reading is a date."""
    first, second, written = int(match["first"]), int(match["second"]), match["year"]
    month_first = first <= 12
    if not (first <= 12 or second <= 12) or max(first, second) > 31 or not min(first, second):
        return
    own = int(written) if len(written) == 4 else int(written) + (2000 if int(written) < 30 else 1900)
    others, is_open = nearby_years(own, rng), max(first, second) <= 12 and len(match["first"]) <= 2
    for turn in count():
        year = own if turn % 3 == 1 else others[turn % len(others)]
        month, day = rng.randint(1, 12), rng.randint(1, 31)
        day = min(day, 12 if is_open and "iso" not in match.groupdict() else monthrange(year, month)[1])
        parts = (month, day) if month_first else (day, month)
        shown = [_as_wide(part, match[name]) for part, name in zip(parts, ("first", "second"), strict=True)]
        yield rewritten(match, {"first": shown[0], "second": shown[1], "year": str(year)[-len(written) :]})


def _as_wide(value: int, like: str) -> str:
    return f"{value:02d}" if len(like) == 2 else str(value)


def _other_times(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    minute = match.groupdict().get("minute")
    step = next(size for size in (60, 30, 15, 5, 1) if int(minute or 0) % size == 0)
    step = min(step, 15) if minute else 60
    hours = range(1, 13) if match["half"] else range(24)
    while True:
        hour = _padded(rng.choice(hours), match["hour"])
        yield rewritten(match, {"hour": hour} | ({"minute": f"{rng.randrange(0, 60, step):02d}"} if minute else {}))


def _other_months(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    own = _month_number(match["month"])
    for number in shuffled([one for one in range(1, 13) if one != own], rng):
        yield rewritten(match, {"month": _month_like(match["month"], number)})


def _other_weekdays(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    for number in shuffled(range(7), rng):
        plural = "s" if match["weekday"].lower().endswith("days") else ""
        yield rewritten(match, {"weekday": cased_like(match["weekday"], _WEEKDAYS[number] + plural)})


def _format(name: str, pattern: str, others: Others, flags: re.RegexFlag = re.IGNORECASE) -> Format:
    return Format(name, re.compile(pattern, flags), others)


_CLEAR_MONTH = _MONTH.replace("March|", "").replace("May|", "").replace("Mar|", "")
_PREPOSITIONS = ("in", "since", "until", "during", "by", "of", "early", "late", "next", "last")
_AFTER_PREPOSITION = "|".join(rf"(?<=\b{word}\s)" for word in _PREPOSITIONS)

FORMATS = (
    _format("date", rf"{_WEEKDAY}(?<![\w-]){_MONTH}\.?\s+{_DAY}(?:(?:,\s*|\s+){YEAR}(?!\w))?", _other_days),
    _format("date", rf"{_WEEKDAY}{_DAY}\s+(?:of\s+)?{_MONTH}\.?(?:(?:,\s*|\s+){YEAR}(?!\w))?", _other_days),
    _format("month and year", rf"(?<![\w-]){_MONTH}\.?,?\s+(?:of\s+)?{YEAR}(?!\w)", _other_days),
    _format("date", rf"{BEFORE}(?P<iso>){YEAR}-(?P<first>0[1-9]|1[0-2])-(?P<second>\d\d){AFTER}", _other_figures),
    _format(
        "date",
        rf"{BEFORE}(?P<first>\d\d?)(?P<mark>[/.-])(?P<second>\d\d?)(?P=mark)(?P<year>1\d{{3}}|20\d\d|\d\d){AFTER}",
        _other_figures,
    ),
    *years.FORMATS,
    _format("time", rf"{BEFORE}(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?P<half>{_HALF})?(?![\w:])", _other_times),
    _format("time", rf"{BEFORE}(?P<hour>1[0-2]|[1-9])(?P<half>{_HALF})", _other_times),
    _format("month", rf"(?<![\w'’-]){_CLEAR_MONTH}(?![-'’]?\w)", _other_months),
    # "may" and "march" are words of their own.
    _format("month", rf"(?:{_AFTER_PREPOSITION}|^(?=\w+\W*$))(?P<month>March|May)(?![\w-])", _other_months, re.NOFLAG),
    _format("weekday", rf"(?<!\w)(?P<weekday>(?:{'|'.join(_WEEKDAYS)})s?)(?!\w)", _other_weekdays),
)
