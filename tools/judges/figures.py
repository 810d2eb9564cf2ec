"""Finds and normalizes the figures and dates in a text.

"12.5 million euros" and "€12.5M" are the same amount, and "12/31/2015" and "31 December 2015" are the same day. "+2.3
%" and "-2.3 %" are different, and so are "0.5 percentage points" and "0.5 %". Ambiguous figures, such as 1.234 or
3/4/2015, keep both readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isclose
from typing import Literal

from factloop.tools.text.words import CARDINALS

Match = Literal["same", "near", "other", "apart"]
"""How two figures compare: the same, equal after rounding, different, or not comparable."""

_SCALES = {"hundred": 1e2, "dozen": 12.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SHORT_SCALES = {"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
_WORD_VALUES = {word: float(value) for value, word in enumerate(CARDINALS) if "-" not in word}
_CURRENCIES = {
    "$": "usd dollar dollars us$ $ usd", "€": "eur euro euros €", "£": "gbp pound pounds £", "¥": "jpy yen ¥",
    "₹": "inr rupee rupees ₹", "chf": "chf franc francs", "kr": "kr krone kroner krona kronor sek nok dkk",
}  # fmt: skip
_UNITS = {
    "m": "mm:.001 millimetre:.001 millimeter:.001 cm:.01 centimetre:.01 centimeter:.01 m:1 metre:1 meter:1 km:1000 "
    "kilometre:1000 kilometer:1000 mile:1609.344 mi:1609.344 ft:.3048 foot:.3048 feet:.3048 yard:.9144 inch:.0254",
    "g": "µg:.000001 mcg:.000001 microgram:.000001 mg:.001 milligram:.001 g:1 gram:1 kg:1000 kilogram:1000 kilo:1000 "
    "t:1000000 tonne:1000000 lb:453.592 lbs:453.592",
    "l": "ml:.001 millilitre:.001 milliliter:.001 cl:.01 l:1 litre:1 liter:1",
    "s": "ms:.001 millisecond:.001 s:1 sec:1 second:1 min:60 minute:60 h:3600 hr:3600 hour:3600 day:86400 week:604800",
    "month": "month:1 year:12 yr:12 decade:120 century:1200",
    "b": "kb:1000 kilobyte:1000 mb:1000000 megabyte:1000000 gb:1000000000 gigabyte:1000000000 tb:1e12 terabyte:1e12",
    "w": "w:1 watt:1 kw:1000 kilowatt:1000 mw:1000000 megawatt:1000000 gw:1000000000 gigawatt:1000000000",
    "wh": "wh:1 kwh:1000 mwh:1000000 gwh:1000000000",
    "m2": "m²:1 m2:1 ha:10000 hectare:10000 km²:1000000 km2:1000000 acre:4046.86",
    "°c": "°c:1 celsius:1",
    "°f": "°f:1 fahrenheit:1",
    "%": "%:1 percent:1 pct:1",
    "pp": "pp:1",
}
_MONTHS = "january february march april may june july august september october november december"
_MONTH_OF = {form: number for number, name in enumerate(_MONTHS.split(), 1) for form in (name, name[:3], name[:4])}
_MONTH = "|".join(f"{name}|{name[:3]}\\.?" for name in _MONTHS.split()) + r"|Sept\.?"


def _unit_table() -> dict[str, tuple[str, float]]:
    table = {name: (symbol, 1.0) for symbol, names in _CURRENCIES.items() for name in names.split()}
    for unit, entries in _UNITS.items():
        for name, factor in (entry.split(":") for entry in entries.split()):
            table[name] = (unit, float(factor))
            if len(name) > 3:
                plural = f"{name[:-1]}ies" if name.endswith("y") and name != "day" else f"{name}s"
                table[plural] = (unit, float(factor))
    return table | {"days": ("s", 86400.0), "inches": ("m", 0.0254)}


_UNIT_OF = _unit_table()
_NUMBER_WORD = "|".join(sorted([*_WORD_VALUES, *_SCALES], key=len, reverse=True))
_DIGITS = r"\d{1,3}(?:(?:[,.'’\u00a0\u202f ]|,\s)\d{3}(?!\d))+(?:[.,]\d{1,2}(?!\d))?|\d+(?:[.,]\d+)*"
_SYMBOL = r"(?:US)?\$|[€£¥₹]"
_DATE = re.compile(
    rf"\b(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})(?!\d)"
    rf"|\b(?P<slash>\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}})(?!\d)"
    rf"|\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m1>{_MONTH})(?![a-z])(?:,?\s+(?P<y1>[12]\d{{3}})\b)?"
    rf"|\b(?P<m2>{_MONTH})(?![a-z])\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%])(?:,?\s+(?P<y2>[12]\d{{3}})\b)?"
    rf"|\b(?P<m3>{_MONTH})(?![a-z]),?\s+(?:of\s+)?(?P<y3>[12]\d{{3}})\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    rf"(?P<clock>\b\d{{1,2}}[:.]\d{{2}}\s*(?:[ap]\.?m\b\.?)|\b\d{{1,2}}:\d{{2}}\b|\b\d{{1,2}}\s*[ap]\.?m\b\.?)"
    r"|(?P<version>\b[vV]?\d+(?:\.\d+){2,}\b(?!,\d))"
    rf"|(?P<sign>(?<![\w.,%)\]])[+\-−–])?(?:(?P<symbol>{_SYMBOL}|\b(?:EUR|USD|GBP|CHF)\b)\s?)?"
    rf"(?P<sign2>(?<=[$€£¥])[-−])?(?P<number>(?<![\d.,])(?<![A-Za-z])(?:{_DIGITS})|\b(?:{_NUMBER_WORD})\b)"
    rf"(?P<more>(?:(?:[\s-]|\sand\s)(?:{_NUMBER_WORD})\b)*)(?P<short>(?:[kKmM]|bn|mn|[bB])\b(?![²2]))?"
    r"(?P<ordinal>(?:st|nd|rd|th)\b)?(?P<decade>s\b)?"
    r"(?P<unit>\s?%|[\s\u00a0-]?(?:per\s?cent(?:age\spoints?)?\b|percentage\spoints?\b|[^\W\d_]+[²2]?|°\s?[CF]\b|[€£$¥])"
    r"(?:/[^\W\d_]+)?)?",
    re.IGNORECASE,
)
_PLAIN_YEAR = re.compile(r"[12]\d{3}")


@dataclass(frozen=True, slots=True)
class Figure:
    text: str
    start: int
    values: tuple[float, ...]
    """Possible values in the base unit. Dates, times and versions have none."""
    unit: str = ""
    """The base unit or the currency, or an empty string for a plain number."""
    dates: tuple[tuple[int, int, int], ...] = ()
    """Year, month and day of a date, each 0 if it is missing. An ambiguous date has several readings."""
    code: str = ""
    """The normalized form of a time of day or a version."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def precision(self) -> tuple[bool, ...]:
        """Whether a date includes a year, a month and a day."""
        return tuple(part > 0 for part in self.dates[0]) if self.dates else ()

    def compare(self, other: Figure) -> Match:
        """Compares this figure, which is from a claim, with a figure from a source."""
        if self.code or other.code:
            same_kind = bool(self.code) and bool(other.code) and (":" in self.code) == (":" in other.code)
            return "same" if self.code == other.code else "other" if same_kind else "apart"
        if self.dates or other.dates:
            return self._compare_dates(other)
        if self.unit and other.unit and self.unit != other.unit:
            return "apart"
        if any(isclose(a, b) for a in self.values for b in other.values):
            return "same"
        if any(a == -b for a in self.values for b in other.values) and "+" not in (self.text[0], other.text[0]):
            return "near"  # "fell by 6 %" and "-6 %"
        if any(_rounds_to(b, a) or _rounds_to(a, b) for a in self.values for b in other.values):
            return "near"
        return "other" if self.unit == other.unit else "apart"

    def _compare_dates(self, other: Figure) -> Match:
        pairs = [(a, b) for a in self.dates for b in other.dates]
        if not pairs:
            return "apart"
        if any(all(x == y for x, y in zip(a, b, strict=True) if x) for a, b in pairs):
            return "same"  # the source date is at least as precise as the claim's
        if any(all(x == y for x, y in zip(a, b, strict=True) if x and y) and _shares(a, b) for a, b in pairs):
            return "near"
        return "other" if any(_shares(a, b) for a, b in pairs) else "apart"


def in_unit_of(figure: Figure, head: str) -> Figure:
    """Returns a cell's figure in the unit of its column header, such as *Revenue (EUR m)* or *Height in cm*."""
    if figure.unit or not figure.values:
        return figure
    unit, factor = "", 1.0
    for token in re.findall(r"[^\W\d_]+[²2]?|[%$€£¥]|°\s?[CF]", head.split("(", 1)[-1] if "(" in head else head)[-3:]:
        name = token.lower()
        known = _UNIT_OF.get(name)
        if known is not None and not unit:
            unit, factor = known[0], factor * known[1]
        elif name.rstrip("s") in _SCALES or name in _SHORT_SCALES:
            factor *= _SCALES.get(name.rstrip("s")) or _SHORT_SCALES[name]
    return replace(figure, unit=unit, values=tuple(value * factor for value in figure.values))


def _shares(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    return any(x and y for x, y in zip(a, b, strict=True))


def _rounds_to(exact: float, rounded: float) -> bool:
    """Whether rounding `exact` to 2, 3 or 4 digits gives `rounded`. Numbers from 100 up may also be rounded to 1."""
    if abs(exact - rounded) > abs(exact) / 2:  # rounding changes a number by at most a third
        return False
    places = (1, 2, 3, 4) if abs(rounded) >= 100 else (2, 3, 4)
    return any(isclose(float(f"{exact:.{digits}g}"), rounded) for digits in places)


@lru_cache(maxsize=20_000)
def read_figures(text: str) -> tuple[Figure, ...]:
    """Returns the figures and dates in a text, in order. Takes linear time."""
    dates = [figure for match in _DATE.finditer(text) if (figure := _date(match))]
    blanked = text
    for date in dates:
        blanked = f"{blanked[: date.start]}{' ' * len(date.text)}{blanked[date.end :]}"
    numbers = [figure for match in _FIGURE.finditer(blanked) if (figure := _number(match, blanked))]
    return tuple(sorted((*dates, *numbers), key=lambda figure: figure.start))


def _date(match: re.Match[str]) -> Figure | None:
    dates = tuple(date for date in _readings(match) if date[1] <= 12 and date[2] <= 31)
    return Figure(match.group(), match.start(), (), dates=dates) if dates else None


def _readings(match: re.Match[str]) -> Iterator[tuple[int, int, int]]:
    if match["iso"]:
        year, month, day = map(int, match["iso"].split("-"))
        yield year, month, day
    elif match["slash"]:
        first, second, year = map(int, re.split(r"[/.]", match["slash"]))
        yield year, second, first
        yield year, first, second
    else:
        name = match["m1"] or match["m2"] or match["m3"]
        year = int(match["y1"] or match["y2"] or match["y3"] or 0)
        yield year, _MONTH_OF[name.lower().rstrip(".")], int(match["d1"] or match["d2"] or 0)


def _number(match: re.Match[str], text: str) -> Figure | None:
    if match["clock"]:
        return Figure(match.group(), match.start(), (), code=_clock(match["clock"]))
    if match["version"]:
        return Figure(match.group(), match.start(), (), code=match["version"].lower().lstrip("v"))
    if match["number"].lower() == "one" and not (match["more"] or match["symbol"]):
        return None  # usually a pronoun
    values = _values(match["number"], match["more"])
    if match["short"]:
        values = [value * _SHORT_SCALES[match["short"].lower()] for value in values]
    unit, factor, end = _unit(match, text)
    is_negative = (match["sign"] or match["sign2"] or "") in ("-", "−") or match["sign"] == "–"
    start = match.start() + len(match.group()) - len(match.group().lstrip())
    shown = text[start:end].strip()
    if match["decade"]:
        return None  # 1930s is not a single year
    if not unit and not match["more"] and _PLAIN_YEAR.fullmatch(match["number"]):
        return Figure(shown, start, (), dates=((int(match["number"]), 0, 0),))
    if match["ordinal"]:
        unit, factor = "th", 1.0
    return Figure(shown, start, tuple((-1 if is_negative else 1) * value * factor for value in values), unit)


def _unit(match: re.Match[str], text: str) -> tuple[str, float, int]:
    before, after = (match["symbol"] or "").lower(), (match["unit"] or "").lower().strip(" -\u00a0")
    bare_end = match.end() - len(match["unit"] or "")
    if before:
        return _UNIT_OF[before][0], 1.0, bare_end
    if re.match(r"per\s?cent|percentage", after):
        return ("pp" if "point" in after else "%"), 1.0, match.end()
    known = _UNIT_OF.get(after) or _UNIT_OF.get(after.split("/")[0])
    if known is not None:
        is_points = known[0] == "%" and re.match(r"[\s-]?points?\b", text[match.end() :])
        return ("pp" if is_points else known[0]), known[1], match.end()
    return "", 1.0, bare_end


def _values(number: str, more: str) -> list[float]:
    words = re.findall(r"[a-z]+", f"{number} {more}".lower())
    if not number[0].isdigit():
        return [_spoken(words)]
    scale = 1.0
    for word in words:
        scale *= _SCALES.get(word, 1.0)
    return [value * scale for value in _plain_values(number)]


def _spoken(words: Sequence[str]) -> float:
    total = current = 0.0
    for word in words:
        if word in _WORD_VALUES:
            current += _WORD_VALUES[word]
        elif word in _SCALES and _SCALES[word] < 1e3:
            current = max(current, 1.0) * _SCALES[word]
        elif word in _SCALES:
            total, current = total + max(current, 1.0) * _SCALES[word], 0.0
    return total + current


def _plain_values(number: str) -> list[float]:
    """1.234 may mean 1234 or 1.234, but 1.234.567,89 is unambiguous."""
    digits = re.sub(r"[\s'’\u00a0\u202f]", "", number)
    marks = re.findall(r"[.,]", digits)
    if not marks:
        return [float(digits)]
    if len(marks) > 1:
        *groups, last = re.split(r"[.,]", digits)
        return [float("".join(groups) + ("." if marks.count(marks[-1]) == 1 else "") + last)]
    as_decimal = float(digits.replace(",", "."))
    head, tail = re.split(r"[.,]", digits)
    if len(tail) != 3 or head == "0" or len(head) > 3:
        return [as_decimal]
    return [float(head + tail)] if marks[0] == "," else [as_decimal, float(head + tail)]


def _clock(text: str) -> str:
    digits = text.replace(".", ":", 1) if re.match(r"\d+\.\d", text) else text
    hour, _, minute = re.sub(r"[^\d:]", "", digits).partition(":")
    shift = 12 if re.search(r"p\.?m", text, re.IGNORECASE) and int(hour) < 12 else 0
    return f"{int(hour) + shift}:{minute or '00'}"
