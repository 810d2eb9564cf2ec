"""Ways of writing a date or number: an expression that finds them, and a rule that makes others of the same form."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

MAX_DRAWS = 400
"""How often a rule is asked at most: one that knows only eleven other months may repeat them for ever."""

Others = Callable[[re.Match[str], random.Random], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Format:
    """`others` yields what may replace a match, best first, perhaps with repetitions and the original among them."""

    name: str
    pattern: re.Pattern[str]
    others: Others


@dataclass(frozen=True, slots=True)
class FormatMatch:
    start: int
    end: int
    format: Format


def find(text: str, formats: Sequence[Format]) -> list[FormatMatch]:
    """The finds of all formats, in order; where two overlap the earlier format keeps it."""
    taken = bytearray(len(text))
    found: list[FormatMatch] = []
    for each in formats:
        for match in each.pattern.finditer(text):
            start, end = match.span()
            if start < end and not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                found.append(FormatMatch(start, end, each))
    return sorted(found, key=lambda one: one.start)


def others(
    text: str, start: int, end: int, formats: Sequence[Format], rng: random.Random, limit: int
) -> tuple[str, list[str]]:
    """The name of the first format that matches exactly `text[start:end]`, and at most `limit` others of its form.

    The text around is seen by the expressions: a *19th* before *century* stays below the 22nd."""
    original = text[start:end]
    for each in formats:
        match = each.pattern.match(text, start)
        if match is None or match.end() != end:
            continue
        drawn = dict.fromkeys(islice(each.others(match, rng), MAX_DRAWS))
        drawn.pop(original, None)
        if drawn:
            return each.name, list(islice(drawn, max(0, limit)))
    return "", []


def rewritten(match: re.Match[str], parts: Mapping[str, str]) -> str:
    """The matched text with some of its named groups replaced."""
    text, at = "", match.start()
    for name, part in sorted(parts.items(), key=lambda item: match.start(item[0])):
        if match[name] is not None:
            text += match.string[at : match.start(name)] + part
            at = match.end(name)
    return text + match.string[at : match.end()]


def cased_like(original: str, word: str) -> str:
    """`word` in the case of `original`: capitals, small letters, or one capital."""
    if original.isupper() and len(original) > 1:
        return word.upper()
    return word[:1].upper() + word[1:].lower() if original[:1].isupper() else word.lower()


def shuffled(values: Sequence[int], rng: random.Random) -> list[int]:
    return rng.sample(values, len(values))
