"""Error rates as evaluators have them against those of the labels, system by system; and how far they are off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.audit.estimate import AuditFigure
from factloop.evaluation.audit.quantification import EvaluatorBias, SystemBias
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views.pictures.marks import Dot, Mark, lines_height, name_lines, put_dot, short
from factloop.reports.pictures import INK, PAPER, QUIET, SERIES, draw, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {Level.CLAIM: "Claims", Level.RESPONSE: "Responses"}
_TICKS = 25


def draw_system_bias(found: Sequence[SystemBias], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """A dot for each system and evaluator, a pane for each level; None where nothing is scored.

    Below the diagonal errors go unseen.
    """
    drawn = [one for one in found if one.labelled.value is not None and one.predicted.value is not None]
    levels = [level for level in Level if any(one.level is level for one in drawn)]
    if not levels:
        return None
    shown = [mark for name, mark in marks.items() if any(one.evaluator == name for one in drawn)]

    def paint(figure: Figure) -> None:
        panes = figure.subplots(1, len(levels), squeeze=False)[0]
        for axes, level in zip(panes, levels, strict=True):
            for mark in shown:
                _put_systems(axes, [one for one in drawn if (one.evaluator, one.level) == (mark.name, level)], mark)
            _finish(axes)
            axes.set_title(TITLES[level], loc="left", fontsize=10, color=QUIET)
        panes[0].set_ylabel("% wrong by evaluator")
        handles = [panes[0].get_lines()[place] for place in range(len(shown))]
        figure.legend(handles, [short(mark.name) for mark in shown], loc="outside right upper", handletextpad=0.2)

    alt = f"Error rate of each system on {where}, by labels and by {len(shown)} evaluators; the diagonal is agreement."
    return draw_figure(paint, alt=alt, width=8.0, height=max(3.6, 0.8 + 0.24 * len(shown)))


def _put_systems(axes: Axes, found: Sequence[SystemBias], mark: Mark) -> None:
    points = [(100 * (one.labelled.value or 0.0), 100 * (one.predicted.value or 0.0)) for one in found]
    (line,) = axes.plot(
        [x for x, _ in points],
        [y for _, y in points],
        linestyle="none",
        marker=mark.marker,
        markersize=7,
        color=mark.colour,
        markeredgecolor=PAPER,
        markeredgewidth=0.8,
        zorder=3,
    )
    line.set_gid(mark.gid)


def _finish(axes: Axes) -> None:
    axes.plot([0, 100], [0, 100], color=QUIET, linewidth=1, linestyle="dashed", zorder=1)
    axes.set_xlim(-3, 103)
    axes.set_ylim(-3, 103)
    axes.set_xticks(range(0, 101, _TICKS))
    axes.set_yticks(range(0, 101, _TICKS))
    axes.set_aspect("equal")
    axes.set_xlabel("% wrong by label")


def draw_mean_bias(found: Sequence[EvaluatorBias], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """Mean and worst magnitude of each evaluator's bias, a pane for each level; None where nothing is scored."""
    drawn = [one for one in found if one.mean_absolute.value is not None]
    levels = [level for level in Level if any(one.level is level for one in drawn)]
    if not levels:
        return None
    lines = [mark for name, mark in marks.items() if any(one.evaluator == name for one in drawn)]

    def paint(figure: Figure) -> None:
        panes = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
        for axes, level in zip(panes, levels, strict=True):
            for y, mark in enumerate(lines):
                for one in drawn:
                    if (one.evaluator, one.level) == (mark.name, level):
                        _put(axes, one.mean_absolute, y - 0.1, mark, SERIES[0], "o")
                        _put(axes, one.worst_absolute, y + 0.1, mark, SERIES[7], "D")
            name_lines(axes, lines)
            axes.set_xlim(left=0)
            axes.set_title(TITLES[level], loc="left", fontsize=10, color=QUIET)
            axes.set_xlabel("points off (● mean, ◆ worst system)")
            axes.tick_params(axis="y", labelcolor=INK)

    alt = f"Mean (circles) and worst (diamonds) error of {len(lines)} evaluators' error rates on {where}, in points."
    return draw_figure(paint, alt=alt, width=8.0, height=lines_height(len(lines)))


def draw_headroom(found: Sequence[EvaluatorBias], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """The lowest error rate of any system by labels and by each evaluator, for claims; None where it is undefined."""
    drawn = [one for one in found if one.level is Level.CLAIM and one.headroom_bias.value is not None]
    if not drawn:
        return None
    lines = [mark for name, mark in marks.items() if any(one.evaluator == name for one in drawn)]

    def paint(axes: Axes) -> None:
        for y, mark in enumerate(lines):
            one = next(one for one in drawn if one.evaluator == mark.name)
            _put(axes, one.headroom_labelled, y - 0.1, mark, INK, "D", is_hollow=True)
            _put(axes, one.headroom_predicted, y + 0.1, mark, SERIES[1], "s")
        name_lines(axes, lines)
        axes.set_xlim(left=0)
        axes.set_xlabel("lowest % wrong of any system (◇ labels, ■ evaluator)")

    alt = f"Lowest error rate of any system on {where}, by labels (hollow diamonds) and by evaluators (squares)."
    return draw(paint, alt=alt, width=6.0, height=lines_height(len(lines)))


def _put(
    axes: Axes, one: AuditFigure, y: float, mark: Mark, colour: str, marker: str, *, is_hollow: bool = False
) -> None:
    if one.value is not None:
        dot = Dot(one.value, one.low, one.high)
        put_dot(axes, dot, y, mark, colour=colour, marker=marker, is_hollow=is_hollow)
