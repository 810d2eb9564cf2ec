"""The order of systems by labels and by predictions, and how many pairs evaluators order wrongly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.audit.ranking import Ranking
from factloop.evaluation.audit.views.pictures.marks import Dot, Mark, lines_height, name_lines, put_dot, short
from factloop.reports.pictures import QUIET, SERIES, draw, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANES_ACROSS = 4


def draw_orders(found: Sequence[Ranking], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """A pane for each evaluator: systems on the left by rising labelled error rate, on the right by predicted.

    None where no evaluator scored two systems.
    """
    drawn = [one for one in found if len(one.systems) > 1]
    if not drawn:
        return None
    across = min(PANES_ACROSS, len(drawn))
    down = math.ceil(len(drawn) / across)
    most = max(len(one.systems) for one in drawn)

    has_one_order = len({tuple(system.system for system in one.systems) for one in drawn}) == 1

    def paint(figure: Figure) -> None:
        panes = figure.subplots(down, across, squeeze=False).ravel()
        for place, axes in enumerate(panes):
            if place < len(drawn):
                is_named = not has_one_order or place % across == 0
                _paint(axes, drawn[place], marks[drawn[place].evaluator], is_named=is_named)
            else:
                axes.set_visible(False)

    alt = f"Order of {most} systems on {where} by labels and by each of {len(drawn)} evaluators; crossing lines differ."
    return draw_figure(paint, alt=alt, width=max(5.0, 2.1 * across), height=down * (0.9 + 0.22 * most))


def _paint(axes: Axes, one: Ranking, mark: Mark, *, is_named: bool) -> None:
    ranks = {name: place for place, name in enumerate(_by_prediction(one))}
    nothing = float("nan")  # parts the line of one system from that of the next
    ends = [(place, ranks[system.system], nothing) for place, system in enumerate(one.systems)]
    (lines,) = axes.plot(
        [0, 1, nothing] * len(ends),
        [y for line in ends for y in line],
        color=mark.colour,
        marker=mark.marker,
        markersize=5,
    )
    lines.set_gid(mark.gid)
    names = [short(system.system) for system in one.systems] if is_named else []
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks([0, 1], ["labels", "predicted"])
    axes.set_xlim(-0.15, 1.15)
    axes.set_ylim(len(ends) - 0.5, -0.5)
    axes.tick_params(length=0)
    axes.set_title(short(mark.name), loc="left", fontsize=10, color=QUIET)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _by_prediction(one: Ranking) -> list[str]:
    """The systems by rising predicted error rate; equal ones as the labels have them."""
    return [system.system for system in sorted(one.systems, key=lambda system: (system.predicted, system.labelled))]


@dataclass(frozen=True)
class WrongPairs:
    """What one evaluator gets wrong, of all pairs of systems."""

    evaluator: str
    share_wrong: float
    share_reversed: float


def draw_wrong_pairs(found: Sequence[WrongPairs], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """Shares of pairs ordered wrongly, and turned round; None without any."""
    if not found:
        return None
    lines = [marks[one.evaluator] for one in found]

    def paint(axes: Axes) -> None:
        for y, (one, mark) in enumerate(zip(found, lines, strict=True)):
            put_dot(axes, Dot(one.share_wrong), y - 0.1, mark, colour=SERIES[0], marker="o")
            put_dot(axes, Dot(one.share_reversed), y + 0.1, mark, colour=SERIES[7], marker="X")
        name_lines(axes, lines)
        axes.set_xlim(-2, 102)
        axes.set_xlabel("% of the pairs of systems (● ordered wrongly, × reversed)")

    alt = f"Share of pairs of systems on {where} that evaluators order wrongly (circles) and turn round (crosses)."
    return draw(paint, alt=alt, width=6.0, height=lines_height(len(lines)))
