"""The English words for numbers below a hundred, cardinal and ordinal."""

from __future__ import annotations

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_IRREGULAR = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip


def cardinal(value: int) -> str:
    """*twenty-four* for 24; `value` is in 0..99."""
    if value < 20:
        return _UNITS[value]
    tens, unit = divmod(value, 10)
    return _TENS[tens - 2] + (f"-{_UNITS[unit]}" if unit else "")


def ordinal(value: int) -> str:
    """*twenty-fourth* for 24; `value` is in 0..99."""
    head, hyphen, last = cardinal(value).rpartition("-")
    regular = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return head + hyphen + _IRREGULAR.get(last, regular)


CARDINALS = {cardinal(value): value for value in range(100)}
ORDINALS = {ordinal(value): value for value in range(1, 100)}


def ordinal_suffix(value: int) -> str:
    """*st* for 1, 21, 101; *th* for 11."""
    return "th" if value % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
