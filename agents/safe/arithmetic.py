"""Recomputes the arithmetic that a judge shows in its reasons: *5 + 5 = 10*, *2026 - 1990 = 36 years*.

Models reckon badly. A wrong result is sent back with the right one, so that no verdict rests on it. What cannot be read
with certainty passes, such as a sum of different units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from factloop.tools.judges.figures import plain_values

_TERM = r"[$€£]?\s?(\d{1,3}(?:[.,]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)[ \u00a0]?([^\W\d_]{2,15}\b)?\s?"
_SIGN = r"[-+−–*×x÷/]"
_EQUATION = re.compile(rf"(?<![\w.,+*×÷/−–-])(?:{_TERM}{_SIGN}\s?)+{_TERM}=\s?{_TERM}(%)?")
_PLAIN_SIGN = str.maketrans("−–×x÷", "--**/")
_MOST_ROUNDED = 0.02
"""Share of a number by which its zeros at the end may hide digits: 2,300 for 2,345."""


def miscalculated(text: str) -> str | None:
    """A correction of the first wrong result in the text, such as "12 × 4 is 48, not 46"; None where all are right."""
    for found in _EQUATION.finditer(text):
        left, right = map(str.strip, found[0].split("="))
        results = [*_results(left, right)]
        stated, share = [*re.finditer(_TERM, right)][-1][1], 0.01 if found[0].endswith("%") else 1.0
        if results and not any(_is_stated(value / share, stated) or _is_stated(value, stated) for value in results):
            return f"{left} is {results[0]:,.10g}, not {right}"
    return None


def _results(left: str, right: str) -> Iterator[float]:
    """What the left side comes to, by each way to read its numbers; nothing where it is of several units."""
    numbers, signs = re.findall(_TERM, left), re.findall(rf"(?<=[\s\w]){_SIGN}(?=\s?[$€£\d])", left)
    units = {unit for _, unit in numbers if unit}
    of_result = {unit for _, unit in re.findall(_TERM, right) if unit}
    is_sum = not any(sign in "*×x÷/" for sign in signs)
    if len(signs) != len(numbers) - 1 or len(units) > 1 or (is_sum and units and of_result - units):
        return
    for way in product(*(plain_values(number) for number, _ in numbers)):
        terms = [way[0]]
        for sign, value in zip(signs, way[1:], strict=True):
            match sign.translate(_PLAIN_SIGN):
                case "*":
                    terms[-1] *= value
                case "/":
                    if not value:
                        return
                    terms[-1] /= value
                case "-":
                    terms.append(-value)
                case _:
                    terms.append(value)
        yield sum(terms)


def _is_stated(value: float, stated: str) -> bool:
    """Whether the number stated is the value, rounded or not, with or without its sign: 1990–2026 is 36 years."""
    digits = re.sub(r"\D", "", stated)
    n_zeros = len(digits) - len(digits.rstrip("0"))
    for one in plain_values(stated):
        of_last_digit = 0.5 * one / max(1, int(digits))
        if abs(abs(value) - one) <= max(of_last_digit, min(of_last_digit * 10**n_zeros, _MOST_ROUNDED * one)):
            return True
    return False
