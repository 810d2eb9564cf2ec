"""Correlations in words and digits, the same on every surface, and where they stand on a forest plot."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from factloop.evaluation.statistics.bootstrap import MOST_LOST
from factloop.evaluation.statistics.correlation import FEWEST_DRAWN, Correlation
from factloop.reports.figures import percent, plural
from factloop.reports.sheet.table import NOTHING


def method_name(found: Iterable[Correlation]) -> str:
    """Whose coefficients these are: `Pearson`."""
    return next((one.method.value.capitalize() for one in found), "Pearson")


def coefficient(value: float | None) -> str:
    """Three digits, as papers print them; a dash where there is none."""
    return NOTHING if value is None else f"{_unsigned_zero(value):.3f}"


def outcome(found: Correlation) -> str:
    """The coefficient, or why it is undefined."""
    return coefficient(found.value) if found.undefined is None else f"undefined ({found.why})"


def interval(found: Correlation) -> str:
    """`[0.253, 0.371]`, or why there is none; a dash where there is no coefficient."""
    if found.value is None:
        return NOTHING
    if found.low is None or found.high is None:
        return f"none: {_why_no_interval(found)}"
    return f"[{coefficient(found.low)}, {coefficient(found.high)}]"


def _why_no_interval(found: Correlation) -> str:
    if found.n_clusters < FEWEST_DRAWN:
        return plural(found.n_clusters, "question")
    if not found.n_resamples:
        return "nothing drawn"
    if found.n_resamples_undefined > MOST_LOST * found.n_resamples:
        return f"undefined in {percent(found.n_resamples_undefined / found.n_resamples)} of resamples"
    return "nothing varies"


def resampling(found: Iterable[Correlation]) -> str:
    """How the intervals came about, which are withheld, and how many resamples the others leave out at most."""
    drawn = [one for one in found if one.n_resamples]
    if not drawn:
        return f"There are no intervals: they take {FEWEST_DRAWN} questions."
    most = max((one.n_resamples_undefined for one in drawn if one.interval is not None), default=0)
    left_out = f"; up to {most:,} without a coefficient are left out" if most else ""
    drawn_anew = f"{drawn[0].n_resamples:,} resamples of whole questions{left_out}"
    return (
        f"{percent(drawn[0].level)} intervals by {drawn_anew}. There is none with fewer than {FEWEST_DRAWN} questions, "
        "or where more than a twentieth of the resamples have no coefficient."
    )


def _unsigned_zero(value: float) -> float:
    return 0.0 if abs(value) < 0.0005 else value


STEP = 0.25
"""Between two marks of the axis."""


@dataclass(frozen=True)
class Axis:
    """Coefficients from `low` to `high`, both multiples of `STEP`."""

    low: float
    high: float

    @classmethod
    def around(cls, found: Iterable[Correlation], published: Iterable[float | None]) -> Axis:
        """An axis that holds zero, one step above it, and everything else that is to be drawn."""
        drawn = [value for one in found for value in (one.value, one.low, one.high)] + list(published)
        values = [0.0, STEP, *(value for value in drawn if value is not None)]
        return cls(math.floor(min(values) / STEP) * STEP, math.ceil(max(values) / STEP) * STEP)

    @property
    def marks(self) -> tuple[float, ...]:
        """The multiples of `STEP` from end to end."""
        return tuple(self.low + STEP * place for place in range(round((self.high - self.low) / STEP) + 1))

    def at(self, value: float) -> str:
        """Where the coefficient stands, in per cent of the way from end to end: `43.25%`."""
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"
