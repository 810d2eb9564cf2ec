"""How far two sides of a comparison are apart: differences with their intervals, and the pairs behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.comparing.records import PairedDifference
from factloop.evaluation.comparing.words import name_of
from factloop.reports.pictures import INK, PAPER, QUIET, SERIES, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = 200
"""Pairs nearer to each other than a two-hundredth of the axis are one dot, larger by their number."""


@dataclass(frozen=True)
class IntervalRow:
    """A difference of shares on a line of its own; filled where it is shown."""

    name: str
    value: float
    low: float | None
    high: float | None
    is_shown: bool


def draw_differences(differences: Sequence[PairedDifference], *, alpha: float) -> Markup | None:
    """A line for each difference; filled where it is shown at `alpha`. None where none is defined."""
    rows = [
        IntervalRow(
            name_of(one),
            one.difference,
            one.low,
            one.high,
            one.p_corrected is not None and one.p_corrected <= alpha,
        )
        for one in differences
        if one.difference is not None
    ]
    alt = f"{len(rows)} differences of B minus A with their intervals; filled where shown after adjustment."
    return draw_intervals(rows, axis="← A is higher · points, B minus A · B is higher →", alt=alt)


def draw_intervals(rows: Sequence[IntervalRow], *, axis: str, alt: str) -> Markup | None:
    """A line for each row, in hundredths, with 0 in the middle. None without rows."""
    if not rows:
        return None

    def paint(axes: Axes) -> None:
        axes.axvline(0, color=INK, linewidth=1)
        for y, one in enumerate(rows):
            if one.low is not None and one.high is not None:
                axes.hlines(y, 100 * one.low, 100 * one.high, color=SERIES[0], linewidth=2)
            axes.plot(
                [100 * one.value],
                [y],
                linestyle="none",
                marker="o",
                markersize=8,
                color=SERIES[0],
                markerfacecolor=SERIES[0] if one.is_shown else PAPER,
                markeredgewidth=1.8,
            )
        reach = max(abs(100 * end) for one in rows for end in (one.low, one.high, one.value) if end is not None)
        axes.set_xlim(-max(1.0, 1.12 * reach), max(1.0, 1.12 * reach))
        axes.set_yticks(range(len(rows)), [one.name for one in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(axis)

    return draw(paint, alt=alt, width=8.0, height=1.0 + 0.36 * len(rows))


def draw_pairs(pairs: Sequence[tuple[float, float]], name: str) -> Markup | None:
    """A dot for each pair of values in [0, 1]: A across, B up; above the line B is higher. None without pairs."""
    if not pairs:
        return None
    dots = Counter((round(_GRID * one), round(_GRID * other)) for one, other in pairs)

    def paint(axes: Axes) -> None:
        axes.plot([0, 100], [0, 100], color=QUIET, linewidth=1, linestyle="dashed")
        places = sorted(dots)
        axes.scatter(
            [100 * x / _GRID for x, _ in places],
            [100 * y / _GRID for _, y in places],
            s=[22 * dots[place] ** 0.75 for place in places],
            color=SERIES[0],
            edgecolors=PAPER,
            linewidths=0.6,
            alpha=0.75,
            zorder=3,
        )
        axes.set_xlim(-3, 103)
        axes.set_ylim(-3, 103)
        axes.set_aspect("equal")
        axes.set_xlabel(f"A, {name}, %")
        axes.set_ylabel(f"B, {name}, %")

    above, below = sum(other > one for one, other in pairs), sum(other < one for one, other in pairs)
    alt = (
        f"{name} of {len(pairs):,} pairs: B higher in {above:,}, A higher in {below:,}; larger dots are several pairs."
    )
    return draw(paint, alt=alt, width=4.6, height=4.4)
