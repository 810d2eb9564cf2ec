"""Numbers: where a text has them, and others of the same size, roundness and form."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from string import ascii_uppercase

from factloop.agents.trustscore.distractors.formats import Format, cased_like, rewritten
from factloop.agents.trustscore.distractors.number_words import CARDINALS, ORDINALS, cardinal, ordinal, ordinal_suffix

_MAX_RANDOM = 120
"""Values drawn where a range holds more than can be wanted."""
_MAX_DIGITS = 40
_MAX_CHANGED_DIGITS = 18
"""A range with more values than a machine word counts cannot be sampled."""

_FIGURE = r"(?P<figure>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_BEFORE = r"(?<![\w.,:/–-])"  # not inside *F-16*, *1.2.3* or *12:30*
_AFTER = r"(?![\w]|[.,:/]\d)"
_ROMAN = (
    (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_SCALE = r"(?:hundred|thousand|million|billion|trillion|dozen)"


def _alternation(words: dict[str, int]) -> str:
    # Longest first: *twenty-four* before *twenty*. A space for the hyphen is common.
    return "|".join(word.replace("-", "[- ]") for word in sorted(words, key=len, reverse=True))


def other_values(
    value: int, rng: random.Random, *, lowest: int = 1, highest: int | None = None, step: int | None = None
) -> Iterator[int]:
    """Other whole numbers: first those from half of `value` to its double, then up to three times as much.

    As round as it: 1500 gives 1200, not 1347, and 90 gives 75 sooner than 77. The first in random order, the rest by
    distance. Of a number with more than 18 digits the last ones stay."""
    step = max(_roundness(value), 10 ** max(0, len(str(value)) - _MAX_CHANGED_DIGITS)) if step is None else step
    top = 10 ** (len(str(value)) + 1) if highest is None else highest
    near = _range(value, -max(value // 2, 3 * step), max(value, 3 * step), step, lowest, top)
    drawn = [one for one in _drawn(near, rng) if one != value]
    if value % (10 * step) == 0:
        drawn.sort(key=lambda one: one % (5 * step) != 0)  # keeps the order of chance within both parts
    yield from drawn
    wide = _range(value, -value, max(2 * value, 35 * step), step, lowest, top)
    yield from sorted(
        (one for one in _drawn(wide, rng) if one != value and one not in near), key=lambda one: abs(one - value)
    )


def _roundness(value: int) -> int:
    """The power of ten that counts it in two digits or more: 100 for 1500, 10 for 400, 1 for 17."""
    step = 1
    while value and value % (step * 10) == 0 and value >= step * 100:
        step *= 10
    return step


def _range(value: int, below: int, above: int, step: int, lowest: int, highest: int) -> range:
    """The values that lie whole steps from `value`, within all bounds."""
    first = max(value + below, lowest)
    first = value - (value - first) // step * step if first <= value else value + -(-(first - value) // step) * step
    return range(first, min(value + above, highest) + 1, step)


def _drawn(values: range, rng: random.Random) -> list[int]:
    return rng.sample(values, min(len(values), _MAX_RANDOM))


def _figures(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    figure = match["figure"]
    whole, _, decimals = figure.replace(",", "").partition(".")
    if len(whole) + len(decimals) > _MAX_DIGITS:
        return
    value, places = int(whole + decimals), len(decimals)
    percent = "percent" in match.groupdict() and match["percent"] is not None
    highest = 100 * 10**places if percent and value <= 100 * 10**places else None
    lowest = 0 if percent or (value == 0 and places) else 1
    for other in other_values(value, rng, lowest=lowest, highest=highest):
        yield rewritten(match, {"figure": _written(other, figure, places)})


def _written(value: int, like: str, places: int) -> str:
    """The value in the form of `like`: decimals, commas between thousands, leading zeros."""
    digits = str(value).rjust(places + 1, "0")
    whole, decimals = (digits[:-places], digits[-places:]) if places else (digits, "")
    if "," in like or (len(like) > 3 and len(whole) > 4 and len(like.partition(".")[0]) == 4):
        whole = f"{int(whole):,}"
    elif like.startswith("0"):
        whole = whole.rjust(len(like.partition(".")[0]), "0")
    return f"{whole}.{decimals}" if places else whole


def _ordinal_figures(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    if len(match["figure"]) > 6:
        return
    for other in other_values(int(match["figure"]), rng):
        suffix = cased_like(match["suffix"], ordinal_suffix(other))
        yield rewritten(match, {"figure": str(other), "suffix": suffix})


def _last_figures(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    """The match with its last number changed, as in *3.1.2*, *3-2* or *1/4*."""
    if len(match["last"]) > _MAX_DIGITS:
        return
    for other in other_values(int(match["last"]), rng, lowest=0 if match["last"] == "0" else 1):
        yield rewritten(match, {"last": _written(other, match["last"], 0)})


def _cardinal_words(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    # Before *hundred* or *million* a number below ten stays below ten.
    highest = 9 if match["scale"] and CARDINALS[_word(match)] < 10 else 99
    for other in other_values(CARDINALS[_word(match)], rng, lowest=2 if match["scale"] else 1, highest=highest, step=1):
        yield rewritten(match, {"word": _spelt(match["word"], cardinal(other))})


def _ordinal_words(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    for other in other_values(ORDINALS[_word(match)], rng, highest=99, step=1):
        yield rewritten(match, {"word": _spelt(match["word"], ordinal(other))})


def _word(match: re.Match[str]) -> str:
    return match["word"].lower().replace(" ", "-")


def _spelt(original: str, word: str) -> str:
    """The word spelt like the original: a space where that has one, and its capitals (*Twenty-Four*, *Twenty-four*)."""
    word = word.replace("-", " ") if " " in original else word
    cased = cased_like(original, word)
    tail = original[1:]
    return cased.title() if tail != tail.lower() and not original.isupper() else cased


def _other_binary(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    for other in other_values(int(match[0], 2), rng):
        yield f"{other:b}"


def _other_codes(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    """*A161*, *F-16*: another number of as many digits."""
    digits = match["digits"]
    lowest = 10 ** (len(digits) - 1)
    for other in other_values(int(digits), rng, lowest=lowest, highest=10 * lowest - 1, step=1):
        yield rewritten(match, {"digits": str(other)})


def _other_letters(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    """*vitamin C*: letters near it in the alphabet; *I* is a word."""
    at = ascii_uppercase.index(match[0])
    near = ascii_uppercase[max(0, at - 6) : at + 7].replace("I", "")
    yield from rng.sample(near, len(near))


def _other_numerals(match: re.Match[str], rng: random.Random) -> Iterator[str]:
    for other in other_values(_roman_value(match[0]), rng, highest=99, step=1):
        yield _roman(other)


def _roman(value: int) -> str:
    written = ""
    for size, numeral in _ROMAN:
        count, value = divmod(value, size)
        written += numeral * count
    return written


def _roman_value(numeral: str) -> int:
    return next((value for value in range(1, 400) if _roman(value) == numeral), 1)


FORMATS = (
    # Not *11000* or *10100*, which count something as often.
    Format(
        "binary number",
        re.compile(r"(?<![\w.,:/–-])1(?=[01]*1)(?![01]*00(?!\d))[01]{4,39}(?![\w:/–-]|[.,]\d)"),
        _other_binary,
    ),
    Format("code", re.compile(r"(?<![\w.-])[A-Z]{1,4}-?(?P<digits>[1-9]\d{0,3})(?![\w-])"), _other_codes),
    Format(
        "Roman numeral",
        re.compile(r"(?<=[^\W\d_] )(?=[IVXLC]{2})C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?!\w)"),
        _other_numerals,
    ),
    Format(
        "letter",
        re.compile(r"(?:(?<=[a-z] )[A-HJ-Z]|^[B-HJ-Z](?= [a-z]))(?![\w'’&+#-]|\.\s*\w|\s[A-Z])|^[A-HJ-Z](?=\W*$)"),
        _other_letters,
    ),
    Format(
        "percentage",
        re.compile(rf"{_BEFORE}{_FIGURE}(?P<percent>\s?%|\s?(?:percent|per cent)\b)", re.IGNORECASE),
        _figures,
    ),
    Format(
        "ordinal number",
        re.compile(rf"{_BEFORE}(?P<figure>[1-9]\d*)(?P<suffix>st|nd|rd|th)\b", re.IGNORECASE),
        _ordinal_figures,
    ),
    Format(
        "number",
        re.compile(
            rf"(?:{_BEFORE}(?:[$€£¥₹]\s?|[-−](?=\d))?|(?<=[A-Z]{{2}})[$€£¥])"
            rf"{_FIGURE}(?:\s{_SCALE}\b|(?=[A-Za-z°²³]{{1,4}}\b(?!\d))|{_AFTER})",
            re.IGNORECASE,
        ),
        _figures,
    ),
    Format(
        "figure",
        re.compile(r"(?<![\w.,:/–-])\d{1,9}(?:[.,:/–-]\d{1,9}){0,5}[.,:/–-](?P<last>\d{1,9})(?![\w])"),
        _last_figures,
    ),
    Format(
        "ordinal number",
        re.compile(rf"(?<![\w-])(?P<word>{_alternation(ORDINALS)})(?![\w-])", re.IGNORECASE),
        _ordinal_words,
    ),
    Format(
        "number",
        re.compile(
            rf"(?<![\w-])(?P<word>{_alternation(CARDINALS)})(?P<scale>[- ]{_SCALE}\b)?"
            r"(?!\w)(?!-\w+(?:st|nd|rd|th)s?\b)",
            re.IGNORECASE,
        ),
        _cardinal_words,
    ),
)
