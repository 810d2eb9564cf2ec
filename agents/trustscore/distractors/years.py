"""Years, spans of years, decades and centuries: where a text has them, and others at a plausible distance."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from factloop.agents.trustscore.distractors.formats import Format, cased_like, rewritten, shuffled
from factloop.agents.trustscore.distractors.number_words import ORDINALS, ordinal, ordinal_suffix
from factloop.agents.trustscore.distractors.numbers import other_values

LATEST_YEAR = 2025
"""The year past which none moves unless it was there before. Fixed: by the clock runs would differ every year."""
_NEAREST = 15
_WANTED = 35
_LAST_CENTURY = 21

YEAR = r"(?P<year>1\d{3}|20\d{2})"
BEFORE, AFTER = r"(?<![\w/–-])(?<!\d[.,:])(?<![$€£¥₹])", r"(?![\w/–-]|[.,:]\d|\s?%)"
_JOINT = r"(?:\s?[-–—/]\s?|\s(?:to|until|till|through|and)\s)"
_ERA = r"(?P<era>BCE|BC|CE|AD|B\.\s?C\.(?:\s?E\.)?|C\.\s?E\.|A\.\s?D\.)"
_CENTURY_WORDS = "|".join(
    word.replace("-", "[- ]") for word, value in sorted(ORDINALS.items(), reverse=True) if value <= _LAST_CENTURY
)


def nearby_years(year: int, rng: random.Random) -> list[int]:
    """Other years in random order, nearer ones first: up to fifteen away, more for centuries long past."""
    span = max(_NEAREST, (LATEST_YEAR - year) // 20)
    earliest, latest = 1000 if year >= 1000 else 1, max(LATEST_YEAR, year + 4)
    near = [one for one in range(max(earliest, year - span), min(latest, year + span) + 1) if one != year]
    missing = max(0, _WANTED - len(near))
    below = range(max(earliest, year - span - missing), max(earliest, year - span))
    above = range(year + span + 1, min(latest, year + span + missing) + 1)
    return shuffled(near, rng) + shuffled([*below, *above], rng)


def _other_years(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    return (rewritten(match, {"year": str(year)}) for year in nearby_years(int(match["year"]), rng))


def _other_spans(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    """*1997-98*, *1868 to 1871*: both ends move by the same number of years."""
    first, until = int(match["year"]), match["until"]
    last = int(until) if len(until) == 4 else first + (int(until) - first) % 100
    latest = max(LATEST_YEAR, last + 4)
    for year in nearby_years(first, rng):
        moved = last + year - first
        if 1000 <= moved <= latest:
            yield rewritten(match, {"year": str(year), "until": str(moved)[-len(until) :]})


def _other_era_years(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    """A year with its era keeps the era: *8000 BC*, *AD 79*."""
    written = match["year"]
    highest = None if match["era"].upper().startswith("B") else LATEST_YEAR
    for other in other_values(int(written.replace(",", "")), rng, highest=highest):
        yield rewritten(match, {"year": f"{other:,}" if "," in written else str(other)})


def _other_decades(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    own = int(match["decade"])
    if own < 100:
        near, far = [one for one in range(20, 100, 10) if one != own], []
    else:
        latest = max(LATEST_YEAR, own)
        near = [one for one in range(max(1000, own - 50), min(latest, own + 50) + 1, 10) if one != own]
        far = [*range(max(1000, own - 200), max(1000, own - 50), 10), *range(own + 60, min(latest, own + 200) + 1, 10)]
    for other in shuffled(near, rng) + shuffled(far, rng):
        yield rewritten(match, {"decade": str(other)})


def _other_centuries(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    written = match["century"]
    is_figure = written[0].isdigit()
    own = int(re.sub(r"\D", "", written)) if is_figure else ORDINALS[written.lower().replace(" ", "-")]
    near = [one for one in range(1, _LAST_CENTURY + 1) if 0 < abs(one - own) <= 5]
    far = [one for one in range(1, _LAST_CENTURY + 1) if abs(one - own) > 5]
    for other in shuffled(near, rng) + shuffled(far, rng):
        shown = f"{other}{ordinal_suffix(other)}" if is_figure else cased_like(written, ordinal(other))
        yield rewritten(match, {"century": shown})


FORMATS = (
    Format("span of years", re.compile(rf"{BEFORE}{YEAR}{_JOINT}(?P<until>1\d{{3}}|20\d{{2}}){AFTER}"), _other_spans),
    Format("span of years", re.compile(rf"{BEFORE}{YEAR}[-–—/](?P<until>\d{{2}}){AFTER}"), _other_spans),
    Format(
        "year with its era",
        re.compile(rf"(?<![\w.,])(?P<year>\d{{1,3}},\d{{3}}|[1-9]\d{{0,4}})\s?{_ERA}(?!\w)"),
        _other_era_years,
    ),
    Format("year with its era", re.compile(rf"(?<!\w){_ERA}\s?(?P<year>[1-9]\d{{0,3}})(?!\w)"), _other_era_years),
    Format("decade", re.compile(r"(?<![\w.,$€£¥₹])(?P<decade>(?:1\d|20)\d0)['’]?s(?!\w)"), _other_decades),
    Format("decade", re.compile(r"(?:(?<!\w)['’]|(?<=the )|(?<!.))(?P<decade>[2-9]0)['’]?s(?!\w)"), _other_decades),
    Format(
        "century",
        re.compile(
            rf"(?<![\w-])(?P<century>(?:1\d|2[01]|[1-9])(?:st|nd|rd|th)|{_CENTURY_WORDS})"
            r"(?=(?:[ -]\w+){0,4}[ -]centur(?:y|ies)\b)",
            re.IGNORECASE,
        ),
        _other_centuries,
    ),
    Format("year", re.compile(BEFORE + YEAR + r"(?!\w|[.,:]\d|\s?%|/\d)"), _other_years),
)
