"""Numbers of a text in plain figures: without scales, fractions, signs of percent, and sums of several."""

from __future__ import annotations

import re
from decimal import Decimal

from factloop.tools.linguistics.english import in_figures
from factloop.tools.verifiers.sums import in_one_unit, in_sums

_SCALED = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(\.\d{1,6})?[ -](thousand|million|billion|trillion)\b"
)
_SCALED_LABEL = re.compile(
    r"[ _(](?P<scale>thousand|million|billion|trillion)s?(?:[ _](?:of[ _])?(?P<unit>[A-Za-z]{1,20}))?\)?:"
    r" (?P<figure>\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?P<fraction>\.\d{1,6})?(?![\w,.]\w)"
)
"""The end of a column's name that scales its figures: *Revenue (million kroner): 102*, *sales_million_euros: 55*."""
_SLASH = "\u2044"
_FRACTION = re.compile(rf"(?:(?<![\d.,])(\d{{1,12}}) )?(?<!\d)(\d){_SLASH}(\d{{1,2}})(?!\d)")
"""*2½*, as compatibility forms leave it."""
_PERCENT = re.compile(r" ?%| per cent\b")
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


def in_plain_figures(text: str) -> str:
    """The text with its numbers in figures without a scale: *two hundred* as 200, *1.5 million* as 1500000; sums of
    them as one, *an hour and a quarter* as 1.25 hours.

    Most sentences hold none of what the slower expressions ask for, and are spared them.
    """
    text = in_sums(text)
    if _SLASH in text:
        text = _FRACTION.sub(_as_decimal, text)
    has_scale = "illion" in text or "thousand" in text
    if has_scale:
        text = _SCALED_LABEL.sub(_under_label, text)
    if "%" in text or "per cent" in text:
        text = _PERCENT.sub(" percent", text)
    if has_scale:
        text = _SCALED.sub(_multiplied, text)
    return in_one_unit(in_figures(text))


def _under_label(match: re.Match[str]) -> str:
    number = Decimal(match["figure"].replace(",", "") + (match["fraction"] or "")) * SCALES[match["scale"]]
    return f": {number:f} {match['unit'] or ''}".rstrip()


def _as_decimal(match: re.Match[str]) -> str:
    parts = int(match[3])
    return f"{int(match[1] or 0) + int(match[2]) / parts:.6g}" if parts else match[0]


def _multiplied(match: re.Match[str]) -> str:
    """The digits that "1.5 million" stands for: the reader of number words takes it for two numbers."""
    number = Decimal(match.group(1).replace(",", "") + (match.group(2) or ""))
    return f"{number * SCALES[match.group(3)]:f}"
