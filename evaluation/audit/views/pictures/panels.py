"""Small multiples: a pane or line for each data set (Godbole & Jia, Figures 1-3, 6-8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from factloop.evaluation.audit.agreement import PairAgreement
from factloop.evaluation.audit.quantification import SystemBias
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views.pictures.marks import Dot, Mark, lines_height, name_lines, put_dot, short
from factloop.reports.pictures import INK, PAPER, QUIET, RULE, SERIES, draw, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 4
"""Panes beside each other."""
_PANE = 2.0
"""Inches of a pane."""


def draw_trade_off(found: Sequence[EvaluatorRates], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """TNR against TPR of each evaluator, a pane for each data set; None with fewer than two. Claims alone."""
    drawn = [
        one for one in found if one.level is Level.CLAIM and one.tpr.value is not None and one.tnr.value is not None
    ]

    def paint(axes: Axes, dataset: str) -> None:
        axes.plot([0, 100], [0, 100], color=QUIET, linewidth=1, linestyle="dashed", zorder=1)
        for one in drawn:
            if one.group.name == dataset:
                _put(axes, 100 * (one.tpr.value or 0.0), 100 * (one.tnr.value or 0.0), marks[one.evaluator])
        axes.set_xlim(-5, 105)
        axes.set_ylim(-5, 105)

    names = _datasets(one.group.name for one in drawn)
    alt = f"TNR against TPR of {len({one.evaluator for one in drawn})} evaluators, a pane for each data set of {where}."
    shown = [mark for name, mark in marks.items() if any(one.evaluator == name for one in drawn)]
    return _panes(names, paint, shown, alt, x="% TPR", y="% TNR")


def draw_bias_panels(found: Sequence[SystemBias], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """Error rate of each system by labels (a line) and by evaluators; a pane for each data set, None below two."""
    drawn = [one for one in found if one.labelled.value is not None and one.predicted.value is not None]

    def paint(axes: Axes, dataset: str) -> None:
        here = [one for one in drawn if one.dataset == dataset]
        rates = {one.system: one.labelled.value or 0.0 for one in here}
        order = sorted(rates, key=lambda name: (rates[name], name))
        axes.plot(range(len(order)), [100 * rates[name] for name in order], color=INK, linewidth=1.6, zorder=2)
        for one in here:
            _put(axes, order.index(one.system), 100 * (one.predicted.value or 0.0), marks[one.evaluator])
        axes.set_xticks([])
        axes.set_xlim(-0.6, max(len(order) - 0.4, 0.6))
        axes.set_ylim(bottom=0)

    names = _datasets(one.dataset for one in drawn)
    alt = f"Error rates of systems by labels (the line) and by evaluators, a pane for each data set of {where}."
    shown = [mark for name, mark in marks.items() if any(one.evaluator == name for one in drawn)]
    return _panes(names, paint, shown, alt, x="systems, best first", y="% wrong")


def draw_pair(found: Sequence[PairAgreement], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """Agreement of one pair of evaluators on claims called wrong, a line for each data set; None below two."""
    drawn = [one for one in found if one.unattributable.value is not None and one.other is not None]
    if len(drawn) < 2:
        return None
    lines = [Mark(number, one.group.name) for number, one in enumerate(drawn)]

    def paint(axes: Axes) -> None:
        axes.axvline(50, color=RULE, linewidth=1.6)
        for y, one in enumerate(drawn):
            figure = one.unattributable
            dot = Dot(figure.value or 0.0, figure.low, figure.high)
            put_dot(axes, dot, y, marks[one.evaluator], colour=SERIES[0], marker="o")
        name_lines(axes, lines)
        axes.set_xlim(-2, 102)
        axes.set_xlabel("% of the claims that either calls wrong")

    pair = f"{short(drawn[0].evaluator)} and {short(drawn[0].other or '')}"
    alt = f"Claims that both {pair} call wrong, of those that either does, on the data sets of {where}."
    return draw(paint, alt=alt, width=7.0, height=lines_height(len(lines)))


def _panes(
    names: Sequence[str], paint: Callable[[Axes, str], None], shown: Sequence[Mark], alt: str, *, x: str, y: str
) -> Markup | None:
    if len(names) < 2:
        return None
    n_columns = min(COLUMNS, len(names))
    n_rows = math.ceil(len(names) / n_columns)

    def fill(figure: Figure) -> None:
        panes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        for axes, name in zip(panes, names, strict=False):
            paint(axes, name)
            axes.set_title(short(name), loc="left", fontsize=9, color=QUIET)
        for axes in panes[len(names) :]:
            axes.set_visible(False)
        figure.supxlabel(x, fontsize=10)
        figure.supylabel(y, fontsize=10)
        keys = [panes[0].plot([], [], **_look(mark))[0] for mark in shown]
        figure.legend(keys, [short(mark.name) for mark in shown], loc="outside upper center", ncols=4)

    height = 1.0 + 0.25 * math.ceil(len(shown) / 4) + _PANE * n_rows
    return draw_figure(fill, alt=alt, width=0.6 + _PANE * n_columns, height=height)


def _put(axes: Axes, x: float, y: float, mark: Mark) -> None:
    (point,) = axes.plot([x], [y], zorder=3, **_look(mark))
    point.set_gid(mark.gid)


def _look(mark: Mark) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": mark.marker,
        "markersize": 6,
        "color": mark.colour,
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.8,
    }


def _datasets(names: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(names))
