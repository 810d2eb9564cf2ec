"""One amount in two units: *1.2 km* and *1,200 metres*, *24 months* and *two years*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from factloop.tools.verifiers.plain_figures import in_plain_figures
from factloop.tools.verifiers.terms import sentence_texts
from factloop.tools.verifiers.wording import UNITS

MOST_TRIED = 3

_IN_BASE: dict[str, tuple[str, str]] = {
    short: (base, worth)
    for base, units in {
        "mm": "mm/1 cm/10 m/1000 km/1000000",
        "mg": "µg/0.001 mg/1 g/1000 kg/1000000 tonne/1000000000",
        "ml": "ml/1 l/1000",
        "kb": "kb/1 mb/1000 gb/1000000 tb/1000000000",
        "millisecond": "millisecond/1 second/1000 minute/60000 hour/3600000 day/86400000 week/604800000",
        "month": "month/1 year/12 decade/120 century/1200",
    }.items()
    for short, worth in (unit.split("/") for unit in units.split())
}
"""The base of each unit that turns into others without loss, and how much of it the unit is worth."""
_SHORT = {one: short for one, (_, short) in UNITS.items() if short in _IN_BASE}
_SHORT |= {form: one for one in ("kb", "mb", "gb", "tb") for form in (one.upper(), f"{one[0]}{one[1].upper()}")}
_SPELLINGS = "|".join(sorted(_SHORT, key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?<![\w.,€$£-])(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)[ -]?"
    rf"(?P<unit>{_SPELLINGS})(?:e?s)?\b"
)
_UNIT = re.compile(rf"(?<![^\W\d_])(?:{_SPELLINGS})(?:e?s)?\b")
_ONE = re.compile(rf"\b(?P<before>for|within|after|in|takes?|took|lasts?|lasted) an? (?P<unit>{_SPELLINGS})\b")
_ONE_UNIT = re.compile(rf"\bone (?P<unit>{_SPELLINGS})\b", re.IGNORECASE)


class Amount(NamedTuple):
    """An amount in a text: where it stands, and how much it makes in the base of its unit."""

    start: int
    end: int
    text: str
    unit: str
    base: str
    worth: Decimal


def in_other_units(claim: str, passages: Sequence[str]) -> Iterator[str]:
    """The claim with an amount in the unit that the passages give it in; none where they give no equal amount.

    What else the claim says is for the verifier. Linear in the passages, and only where the claim has an amount.
    """
    if _UNIT.search(claim.lower()) is None:
        return
    claim = in_amounts(claim)
    ours = list(amounts_of(claim))
    theirs = amounts_said(passages) if ours else []
    said = [(one, other) for one in ours for other in theirs if _are_equal(one, other)]
    yield from (f"{claim[: one.start]}{other.text}{claim[one.end :]}" for one, other in said[:MOST_TRIED])


def amounts_said(passages: Sequence[str]) -> list[Amount]:
    """The amounts of the passages, each once."""
    sentences = (text for passage in passages for text, _ in sentence_texts(passage) if _UNIT.search(text))
    return list({one.text: one for text in sentences for one in amounts_of(in_amounts(text))}.values())


def _are_equal(one: Amount, other: Amount) -> bool:
    return (one.base, one.worth) == (other.base, other.worth) and one.unit != other.unit


def amounts_of(text: str) -> Iterator[Amount]:
    """The amounts of a text whose numbers are figures."""
    for found in _AMOUNT.finditer(text):
        unit = _SHORT[found["unit"]]
        base, worth = _IN_BASE[unit]
        number = Decimal(found["number"].replace(",", ""))
        yield Amount(found.start(), found.end(), found[0], unit, base, number * Decimal(worth))


def in_amounts(text: str) -> str:
    """The text with its numbers in figures: *an hour and a half* as 1.5 hours, *for a year* as *for 1 year*."""
    plain = in_plain_figures(text)
    plain = _ONE_UNIT.sub(r"1 \g<unit>", _ONE.sub(r"\g<before> 1 \g<unit>", plain))
    return re.sub(r"\b[Tt]wo\b", "2", plain)  # the reader of number words leaves these as they stand
