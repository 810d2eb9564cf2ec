"""*Five years later* as the year that it is, where what was said before leaves no doubt from when it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from factloop.tools.linguistics.discourse import Context

MAX_BACK = 2
"""Sentences before in which the year stands that is counted from."""

_WORDS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: max(1, number) for number, word in enumerate(_WORDS)}
_COUNT = rf"(?P<count>\d{{1,2}}|{'|'.join(_NUMBERS)}) years?"
_RELATIVE = re.compile(rf"\b(?:{_COUNT} (?P<way>later|earlier)|(?P<next>the (?:following|next) year))\b", re.IGNORECASE)
_ROUGHLY = re.compile(
    r"\b(?:about|almost|around|at least|fewer than|less than|more than|nearly|over|some|until|for)\s$", re.IGNORECASE
)
_MOVES_ON = re.compile(r"\b(?:later|earlier|afterwards|thereafter|following|previous|next|ago)\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2})(?:s\b)?")
_DATED = re.compile(
    r"\b[Ii]n (?P<year>1\d{3}|20\d{2})\b(?!s|[–-]\d)"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?: \d{1,2},)? (?P<of_month>1\d{3}|20\d{2})\b"
)


def name_years(claim: str, context: Context) -> str:
    """The claim with the year in the place of *five years later*: *In 1912*, *in 1912*. As it stands where in doubt."""
    found = _RELATIVE.search(claim)
    if found is None or _YEAR.search(claim) or _ROUGHLY.search(claim[: found.start()]):
        return claim
    start = _counted_from(found[0], context)
    if start is None:
        return claim
    count = 1 if found["next"] else _number(found["count"])
    year = start - count if (found["way"] or "").lower() == "earlier" else start + count
    return f"{claim[: found.start()]}{'in' if found.start() else 'In'} {year}{claim[found.end() :]}"


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text.lower()]


def _counted_from(expression: str, context: Context) -> int | None:
    """The one year of the sentence itself before the expression, or else of the nearest sentence before with a year."""
    for text in _said_before(expression, context):
        if _YEAR.search(text):
            return _only_year(text)
        if _MOVES_ON.search(text):
            return None
    return None


def _said_before(expression: str, context: Context) -> Iterator[str]:
    """What the own sentence says before the expression, then the sentences before it, the nearest first."""
    own = "" if context.own is None else context.own.text
    yield own[: max(0, own.lower().find(expression.lower()))]
    yield from (said.text for said in reversed(context.before[-MAX_BACK:]))


def _only_year(text: str) -> int | None:
    """The year of a text, where it has no other and dates by it what it says: not what stands in brackets."""
    years, dated = _YEAR.findall(text), list(_DATED.finditer(text))
    if len(years) != 1 or len(dated) != 1 or "(" in text[: dated[0].start()]:
        return None
    return int(dated[0]["year"] or dated[0]["of_month"])
