"""Recomputes the arithmetic that a judge shows in its reasons: *5 + 5 = 10*, *2026 - 1990 = 36 years*.

Models reckon badly. A wrong result is sent back with the right one, so that no verdict rests on it. What cannot be read
with certainty passes: sums of different units, scales (*2 million*), dates, times, brackets and powers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from factloop.tools.judges.figures import SCALES, plain_values

_TERM = r"[$€£]?\s?(\d{1,3}(?:[.,]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)[ \u00a0]?([^\W\d_]{2,15}\b)?\s?"
_SIGN = r"[-+−–*×x÷/]"
_EQUATION = re.compile(
    rf"(?<![\w.,:^%(+*×÷/−–-])(?<![+*×÷/^(−–-]\s)(?<!\bof\s)"
    rf"(?:{_TERM}{_SIGN}\s?)+{_TERM}=\s?{_TERM}(?P<percent>%)?(?!\s?[-+−–*×÷/^:=(\d])"
)
_PLAIN_SIGN = str.maketrans("−–×x÷", "--**/")
_NO_UNIT = frozenset({*SCALES, "percent", "per", "pct", "squared", "cubed"})
"""Words after a number that change its value."""
_MOST_ROUNDED = 0.02
"""Share of a number by which its zeros at the end may hide digits: 2,300 for 2,345."""


def miscalculated(text: str) -> str | None:
    """A correction of the first wrong result in the text, such as "12 × 4 is 48, not 46"; None where all are right."""
    for found in _EQUATION.finditer(text):
        left, right = map(str.strip, found[0].split("="))
        results = [*_results(left, right)]
        stated, share = [*re.finditer(_TERM, right)][-1][1], 0.01 if found["percent"] else 1.0
        if results and not any(_is_stated(value / share, stated) or _is_stated(value, stated) for value in results):
            return f"{left} is {results[0]:,.10g}, not {right}"
    return None


def _results(left: str, right: str) -> Iterator[float]:
    """What the left side comes to, by each way to read its numbers; nothing where it is no plain sum of one unit."""
    terms, signs = re.findall(_TERM, left), re.findall(rf"(?<=[\s\w]){_SIGN}(?=\s?[$€£\d])", left)
    (stated, of_result) = re.findall(_TERM, right)[0]
    numbers, units = [number for number, _ in terms], [unit for _, unit in terms]
    is_sum = not any(sign in "*×x÷/" for sign in signs)
    with_unit = [unit for unit in units if unit]
    is_of_one_unit = len({*with_unit, of_result} - {""}) <= 1 or not with_unit
    has_all_or_none = not is_sum or len(with_unit) in (0, len(terms))
    is_written_out = any(re.match(r"0\d", number) for number in [*numbers, stated])  # a date, a time
    if len(signs) != len(terms) - 1 or not is_of_one_unit or not has_all_or_none or is_written_out:
        return
    if _NO_UNIT.intersection(word.lower() for word in [*units, of_result]):
        return
    for way in product(*map(plain_values, numbers)):
        values = [way[0]]
        for sign, value in zip(signs, way[1:], strict=True):
            match sign.translate(_PLAIN_SIGN):
                case "*":
                    values[-1] *= value
                case "/":
                    if not value:
                        return
                    values[-1] /= value
                case "-":
                    values.append(-value)
                case _:
                    values.append(value)
        yield sum(values)


def _is_stated(value: float, stated: str) -> bool:
    """Whether the number stated is the value, rounded or not, with or without its sign: 1990–2026 is 36 years."""
    digits = re.sub(r"\D", "", stated)
    n_zeros = len(digits) - len(digits.rstrip("0"))
    for one in plain_values(stated):
        of_last_digit = 0.5 * one / max(1, int(digits))
        if abs(abs(value) - one) <= max(of_last_digit, min(of_last_digit * 10**n_zeros, _MOST_ROUNDED * one)):
            return True
    return False
