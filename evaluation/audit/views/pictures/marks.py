"""What the pictures of an audit have in common: names that fit, a colour and a marker for each evaluator, and dots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factloop.reports.pictures import PAPER, SERIES, as_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
LONGEST_NAME = 24


def short(name: str) -> str:
    """The name on one line, cut in its middle where it is long: names mostly differ at one of their ends."""
    words = as_words(name)
    if len(words) > LONGEST_NAME:
        words = f"{words[: LONGEST_NAME // 2]}…{words[-LONGEST_NAME // 2 + 1 :]}"
    return f" {words}" if words.startswith("_") else words  # matplotlib leaves out names with this beginning


@dataclass(frozen=True)
class Mark:
    """One evaluator in all pictures of a report, by its number: sixty-four look different."""

    number: int
    name: str

    @property
    def colour(self) -> str:
        return SERIES[self.number % len(SERIES)]

    @property
    def marker(self) -> str:
        return MARKERS[(self.number + self.number // len(SERIES)) % len(MARKERS)]

    @property
    def gid(self) -> str:
        return f"of-{self.number}"


@dataclass(frozen=True)
class Dot:
    """A value with its interval, if it has one."""

    value: float
    low: float | None = None
    high: float | None = None


def put_dot(axes: Axes, dot: Dot, y: float, mark: Mark, *, colour: str, marker: str, is_hollow: bool = False) -> None:
    """The dot on its line, with its interval; values are shares and are drawn in per cent."""
    if dot.low is not None and dot.high is not None:
        whisker = axes.hlines(y, 100 * dot.low, 100 * dot.high, color=colour, linewidth=1.6)
        whisker.set_gid(mark.gid)
    (point,) = axes.plot(
        [100 * dot.value],
        [y],
        linestyle="none",
        marker=marker,
        markersize=7,
        color=colour,
        markerfacecolor=PAPER if is_hollow else colour,
        markeredgewidth=1.6 if is_hollow else 0.8,
        markeredgecolor=colour if is_hollow else PAPER,
        zorder=3,
    )
    point.set_gid(mark.gid)


def name_lines(axes: Axes, marks: Sequence[Mark]) -> None:
    """One line for each evaluator, the first on top, with its name on the left."""
    axes.set_yticks(range(len(marks)), [short(mark.name) for mark in marks])
    axes.set_ylim(len(marks) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def lines_height(n_lines: int) -> float:
    """Inches that so many lines take, with the axis below and the title above."""
    return 1.0 + 0.34 * n_lines
