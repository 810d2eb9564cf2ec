"""Amounts that are spelt as sums and parts, as one figure: *an hour and a quarter*, *2 h 30 min*, *half a million*."""

from __future__ import annotations

import re
from decimal import Decimal

from factloop.tools.verifiers.wording import NO_SHARE_BEFORE, UNITS

_PARTS = {"half": "0.5", "quarter": "0.25", "three quarters": "0.75", "3 quarters": "0.75"}
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SMALL = {word: str(number) for number, word in enumerate(_WORDS, start=1)} | {"a": "1", "an": "1"}
_NUMBER = rf"(?:{'|'.join(_WORDS)}|\d{{1,6}})"
_PART = r"(?:a |one )?(?P<part>half|quarter|(?:three|3) quarters)"
_AND_PART = rf" and (?=(?:a|one) (?:half|quarter)|(?:three|3) ){_PART}"
"""*Six weeks and half pay* is no six weeks and a half."""
_SCALE = r"(?P<scale>hundred|thousand|million|billion|trillion)"
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MONTHS = {"month": 1, "year": 12}
_TIME_UNITS = {one: short for one, (_, short) in UNITS.items() if short in _SECONDS | _MONTHS} | {"h": "hour"}
_TIMES = "|".join(sorted(_TIME_UNITS, key=len, reverse=True))
_OF_TWO_TIMES = ("sec", "min", "day", "week", "year")
_UNIT = "|".join(sorted((one for one in UNITS if len(one) > 2 and one not in {"foot", "inch"}), key=len, reverse=True))

_WHOLE_AND_PART = re.compile(rf"\b(?P<whole>{_NUMBER}){_AND_PART}(?= [a-z])(?! (?:of|the|an?)\b)", re.IGNORECASE)
_UNIT_AND_PART = re.compile(
    rf"\b(?P<whole>{_NUMBER}|an?) (?P<unit>(?:{_UNIT})s?|{_SCALE}){_AND_PART}\b(?! (?:of|an?|the)\b)", re.IGNORECASE
)
_PART_OF_UNIT = re.compile(rf"\b{_PART} (?:of )?an? (?P<unit>(?:{_UNIT})|{_SCALE})\b", re.IGNORECASE)
_ONE_SCALE = re.compile(rf"\ba {_SCALE}\b(?![-])", re.IGNORECASE)
_TWO_TIMES = re.compile(
    rf"(?<![\w.,-])(?P<more>\d{{1,4}}|an?|one|two) ?(?P<unit>{_TIMES})s?(?: and|,)? "
    rf"(?P<fewer>\d{{1,4}}|one|two) ?(?P<small>{_TIMES})s?\b(?! (?:later|earlier|before|after))",
    re.IGNORECASE,
)


def in_sums(text: str) -> str:
    """The text with each whole and its part as one figure: *two and a half years* as *2.5 years*, *a million* as *one
    million*. Linear in the text."""
    lowered = text.lower()
    if "half" in lowered or "quarter" in lowered:
        with_parts = _UNIT_AND_PART.sub(_unit_and_part, _WHOLE_AND_PART.sub(_added, text))
        text = _PART_OF_UNIT.sub(_part_of_unit, with_parts)
    has_scale = "illion" in lowered or "thousand" in lowered or "hundred" in lowered
    return _ONE_SCALE.sub(r"one \g<scale>", text) if has_scale else text


def in_one_unit(text: str) -> str:
    """The text with times in two units as one in the smaller: *2 hours and 30 minutes* as *150 minutes*.

    Any two units but hours alone are told by these words, which most sentences do not hold.
    """
    lowered = text.lower()
    return _TWO_TIMES.sub(_two_times, text) if any(word in lowered for word in _OF_TWO_TIMES) else text


def _added(found: re.Match[str]) -> str:
    whole = found["whole"].lower()
    return f"{Decimal(_SMALL.get(whole, whole)) + Decimal(_PARTS[found['part'].lower()]):f}"


def _unit_and_part(found: re.Match[str]) -> str:
    unit = found["unit"]
    return f"{_added(found)} {unit if found['scale'] else _plural(unit)}"


def _part_of_unit(found: re.Match[str]) -> str:
    """*0.5 years*; not of *the second half of a year*, which is one of two."""
    before, unit = found.string[: found.start()].split()[-1:], found["unit"]
    if any(word.lower() in NO_SHARE_BEFORE for word in before):
        return found[0]
    return f"{_PARTS[found['part'].lower()]} {unit if found['scale'] else _plural(unit)}"


def _plural(unit: str) -> str:
    return unit if unit.endswith("s") else f"{unit}s"


def _two_times(found: re.Match[str]) -> str:
    one, two = (_TIME_UNITS[found[name].lower()] for name in ("unit", "small"))
    worths = next((units for units in (_SECONDS, _MONTHS) if one in units and two in units), {})
    if not worths or worths[one] <= worths[two]:
        return found[0]
    more, fewer = (Decimal(_SMALL.get(found[name].lower(), found[name])) for name in ("more", "fewer"))
    return f"{more * worths[one] / worths[two] + fewer:f} {_plural(two)}"
