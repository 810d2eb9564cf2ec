"""TPR and TNR of each evaluator, apart, with their intervals and the gap between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.audit.estimate import AuditFigure
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views.pictures.marks import Dot, Mark, lines_height, name_lines, put_dot
from factloop.reports.pictures import INK, QUIET, RULE, SERIES, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TITLES = {Level.CLAIM: "Claims", Level.RESPONSE: "Responses"}


def draw_rates(found: Sequence[EvaluatorRates], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """A pane for each level; None where no rate is defined."""
    levels = [level for level in Level if any(one.level is level and _is_drawn(one) for one in found)]
    if not levels:
        return None
    lines = [marks[name] for name in dict.fromkeys(one.evaluator for one in found)]

    def paint(figure: Figure) -> None:
        panes = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
        for axes, level in zip(panes, levels, strict=True):
            _paint(axes, [one for one in found if one.level is level], lines)
            axes.set_title(_TITLES[level], loc="left", fontsize=10, color=QUIET)
            axes.set_xlabel("% sorted rightly (● TPR, ■ TNR)")

    alt = f"TPR (circles) and TNR (squares) of {len(lines)} evaluators on {where}, with intervals."
    return draw_figure(paint, alt=alt, width=8.0, height=lines_height(len(lines)))


def _is_drawn(one: EvaluatorRates) -> bool:
    return one.tpr.value is not None or one.tnr.value is not None


def _paint(axes: Axes, found: Sequence[EvaluatorRates], lines: Sequence[Mark]) -> None:
    axes.axvline(50, color=QUIET, linewidth=1, linestyle="dotted")
    for y, mark in enumerate(lines):
        for one in found:
            if one.evaluator != mark.name:
                continue
            if one.tpr.value is not None and one.tnr.value is not None:
                gap = axes.hlines(y, 100 * one.tpr.value, 100 * one.tnr.value, color=RULE, linewidth=9)
                gap.set_gid(mark.gid)
            _put(axes, one.tpr, y - 0.1, mark, SERIES[0], "o")
            _put(axes, one.tnr, y + 0.1, mark, SERIES[1], "s")
    axes.set_xlim(-2, 102)
    name_lines(axes, lines)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", labelcolor=INK)


def _put(axes: Axes, one: AuditFigure, y: float, mark: Mark, colour: str, marker: str) -> None:
    if one.value is not None:
        put_dot(axes, Dot(one.value, one.low, one.high), y, mark, colour=colour, marker=marker)
