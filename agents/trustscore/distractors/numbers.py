"""Replaces dates and numbers with other values in the same format, of similar size and equally round."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from factloop.tools.text.words import CARDINALS, ORDINALS

MAX_DRAWS = 400
_MAX_RANDOM = 120
_MAX_CHANGED_DIGITS = 18
"""Maximum number of leading digits to change. Python cannot sample a range that exceeds a machine word."""
_MAX_DIGITS = 40
_FIGURE = r"(?P<figure>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_BEFORE = r"(?<![\w.,:/–-])"  # not inside *F-16*, *1.2.3* or *12:30*
_AFTER = r"(?![\w]|[.,:/]\d)"
_SCALE = r"(?:hundred|thousand|million|billion|trillion|dozen)"
Parts = Mapping[str, str]
Rule = Callable[[re.Match[str], random.Random], Iterable[Parts]]
"""Yields other values for a match, best first. May repeat values and include the original."""


class Format(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    rule: Rule


class Found(NamedTuple):
    start: int
    end: int
    name: str


def find(text: str, formats: Sequence[Format]) -> list[Found]:
    """Returns the matches of all formats, sorted by position. If two overlap, the earlier format wins."""
    taken = bytearray(len(text))
    found: list[Found] = []
    for each in formats:
        for match in each.pattern.finditer(text):
            start, end = match.span()
            if start < end and not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                found.append(Found(start, end, each.name))
    return sorted(found)


def others(text: str, start: int, end: int, formats: Sequence[Format], rng: random.Random) -> tuple[str, Sequence[str]]:
    """Returns the name of the first format that matches exactly this span, and other values in it, best first.

    The patterns also look at the surrounding text, so that *19th* before *century* stays below 22nd.
    """
    for name, pattern, rule in formats:
        match = pattern.match(text, start)
        if match is not None and match.end() == end:
            drawn = dict.fromkeys(_rewritten(match, parts) for parts in islice(rule(match, rng), MAX_DRAWS))
            drawn.pop(match[0], None)
            if drawn:
                return name, list(drawn)
    return "", ()


def _rewritten(match: re.Match[str], parts: Parts) -> str:
    text, at = "", match.start()
    for name in sorted((name for name in parts if match[name] is not None), key=match.start):
        text += match.string[at : match.start(name)] + parts[name]
        at = match.end(name)
    return text + match.string[at : match.end()]


def cased_like(original: str, word: str) -> str:
    if original.isupper() and len(original) > 1:
        return word.upper()
    return word[:1].upper() + word[1:].lower() if original[:1].isupper() else word.lower()


def ordinal_suffix(value: int) -> str:
    return "th" if value % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def alternation(words: Sequence[str]) -> str:
    """Returns a pattern for number words, longest first. Hyphens also match spaces."""
    return "|".join(word.replace("-", "[- ]") for word in sorted(words, key=len, reverse=True))


def other_values(
    value: int, rng: random.Random, *, lowest: int = 1, highest: int | None = None, step: int | None = None
) -> Iterator[int]:
    """Yields other whole numbers as round as `value`: 1500 gives 1200, not 1347, and 90 gives 75 before 77.

    First come numbers from half to twice `value` in random order, then numbers up to three times `value`, nearest
    first. If a number has more than 18 digits, its last digits stay the same.
    """
    digits = str(value)
    zeros = min(len(digits) - len(digits.rstrip("0")), len(digits) - 2)
    step = step or 10 ** max(0, zeros, len(digits) - _MAX_CHANGED_DIGITS)
    top = 10 ** (len(digits) + 1) if highest is None else highest

    def drawn(below: int, above: int) -> tuple[range, list[int]]:
        first = max(value - below, lowest)
        values = range(first + (value - first) % step, min(value + above, top) + 1, step)
        return values, [one for one in rng.sample(values, min(len(values), _MAX_RANDOM)) if one != value]

    near, chosen = drawn(max(value // 2, 3 * step), max(value, 3 * step))
    if value % (10 * step) == 0:
        chosen.sort(key=lambda one: one % (5 * step) != 0)  # keeps the random order within both groups
    yield from chosen
    _, far = drawn(value, max(2 * value, 35 * step))
    yield from sorted((one for one in far if one not in near), key=lambda one: abs(one - value))


def _figures(match: re.Match[str], rng: random.Random) -> Iterator[Parts]:
    figure = match["figure"]
    whole, _, decimals = figure.replace(",", "").partition(".")
    if len(whole) + len(decimals) > _MAX_DIGITS:
        return
    value, places = int(whole + decimals), len(decimals)
    percent = "percent" in match.groupdict()
    highest = 100 * 10**places if percent and value <= 100 * 10**places else None
    for other in other_values(value, rng, lowest=0 if percent or (value == 0 and places) else 1, highest=highest):
        yield {"figure": _written(other, figure, places)}


def _written(value: int, like: str, places: int) -> str:
    digits = str(value).rjust(places + 1, "0")
    whole, decimals = (digits[:-places], digits[-places:]) if places else (digits, "")
    if "," in like or (len(like) > 3 and len(whole) > 4 and len(like.partition(".")[0]) == 4):
        whole = f"{int(whole):,}"
    elif like.startswith("0"):
        whole = whole.rjust(len(like.partition(".")[0]), "0")
    return f"{whole}.{decimals}" if places else whole


def _ordinal_figures(match: re.Match[str], rng: random.Random) -> Iterator[Parts]:
    if len(match["figure"]) <= 6:
        for other in other_values(int(match["figure"]), rng):
            yield {"figure": str(other), "suffix": cased_like(match["suffix"], ordinal_suffix(other))}


def _words(match: re.Match[str], rng: random.Random) -> Iterator[Parts]:
    """Before *hundred* or *million*, a number below ten stays below ten."""
    word, scale = match["word"].lower().replace(" ", "-"), match.groupdict().get("scale")
    words = ORDINALS if word in ORDINALS else CARDINALS
    value, mark = words.index(word), " " if " " in match["word"] else "-"
    for other in other_values(value, rng, lowest=2 if scale else 1, highest=9 if scale and value < 10 else 99, step=1):
        yield {"word": cased_like(match["word"], words[other].replace("-", mark))}


FORMATS = tuple(
    Format(name, re.compile(pattern), rule)
    for name, pattern, rule in (
        ("percentage", rf"(?i){_BEFORE}{_FIGURE}(?P<percent>\s?%|\s?(?:percent|per cent)\b)", _figures),
        ("ordinal number", rf"(?i){_BEFORE}(?P<figure>[1-9]\d*)(?P<suffix>st|nd|rd|th)\b", _ordinal_figures),
        (
            "number",
            rf"(?i)(?:{_BEFORE}(?:[$€£¥₹]\s?|[-−](?=\d))?|(?<=[A-Z]{{2}})[$€£¥])"
            rf"{_FIGURE}(?:\s{_SCALE}\b|(?=[A-Za-z°²³]{{1,4}}\b(?!\d))|{_AFTER})",
            _figures,
        ),
        ("ordinal number", rf"(?i)(?<![\w-])(?P<word>{alternation(ORDINALS[1:])})(?![\w-])", _words),
        (
            "number",
            rf"(?i)(?<![\w-])(?P<word>{alternation(CARDINALS)})(?P<scale>[- ]{_SCALE}\b)?"
            r"(?!\w)(?!-\w+(?:st|nd|rd|th)s?\b)",
            _words,
        ),
    )
)
