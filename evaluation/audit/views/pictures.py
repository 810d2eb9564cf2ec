"""Draws an audit's charts: reliability, agreement, bias, and bias before and after correction.

Each function returns None if there is nothing to draw. An evaluator has the same colour and marker in every chart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.audit.adjustment import AdjustmentMethod, AdjustmentReport, MeanAdjustment
from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.quantification import SystemBias
from factloop.evaluation.audit.report import AuditAt
from factloop.evaluation.audit.table import THRESHOLD, Level
from factloop.evaluation.audit.views.words import METHODS, where
from factloop.reports.pictures import INK, PAPER, QUIET, SERIES, as_words, draw, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
LONGEST_NAME = 24
_TICKS = range(0, 101, 25)


def short(name: str) -> str:
    """Returns the name on one line. Long names are cut in the middle, because most differ at the start or end."""
    words = as_words(name)
    if len(words) > LONGEST_NAME:
        words = f"{words[: LONGEST_NAME // 2]}…{words[-LONGEST_NAME // 2 + 1 :]}"
    return f" {words}" if words.startswith("_") else words  # matplotlib ignores labels that start with an underscore


@dataclass(frozen=True)
class Mark:
    """An evaluator's colour and marker, one of 64 combinations."""

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


Marks = Mapping[str, Mark]


def _put(axes: Axes, points: Sequence[tuple[float, float]], mark: Mark, linestyle: str = "none") -> None:
    (line,) = axes.plot(
        [x for x, _ in points],
        [y for _, y in points],
        linestyle=linestyle,
        marker=mark.marker,
        markersize=7,
        color=mark.colour,
        markeredgecolor=PAPER,
        markeredgewidth=0.8,
        zorder=3,
    )
    line.set_gid(mark.gid)


def _square(axes: Axes, x: str) -> None:
    axes.plot([0, 100], [0, 100], color=QUIET, linewidth=1, linestyle="dashed", zorder=1)
    axes.set_xlim(-3, 103)
    axes.set_ylim(-3, 103)
    axes.set_xticks(_TICKS)
    axes.set_yticks(_TICKS)
    axes.set_aspect("equal")
    axes.set_xlabel(x)


def _name(figure: Figure, axes: Axes, shown: Sequence[Mark]) -> None:
    lines = [line for line in axes.get_lines() if str(line.get_gid()).startswith("of-")]
    figure.legend(lines, [short(mark.name) for mark in shown], loc="outside right upper", handletextpad=0.2)


def draw_bias(at: AuditAt, group: Group, members: frozenset[str], marks: Marks) -> Markup | None:
    """Plots each system's predicted error rate against its labelled error rate, with one panel per level. A dot below
    the diagonal means that the evaluator misses errors."""
    datasets = members or {group.name}
    drawn = [
        one
        for one in at.quantification.systems
        if one.dataset in datasets and one.labelled.value is not None and one.predicted.value is not None
    ]
    levels = [level for level in Level if any(one.level is level for one in drawn)]
    if not levels:
        return None
    shown = [mark for name, mark in marks.items() if any(one.evaluator == name for one in drawn)]

    def paint(figure: Figure) -> None:
        panes = figure.subplots(1, len(levels), squeeze=False)[0]
        for axes, level in zip(panes, levels, strict=True):
            for mark in shown:
                _put(axes, [_rates(one) for one in drawn if (one.evaluator, one.level) == (mark.name, level)], mark)
            _square(axes, "% wrong by label")
            axes.set_title({Level.CLAIM: "Claims", Level.RESPONSE: "Responses"}[level], loc="left", color=QUIET)
        panes[0].set_ylabel("% wrong by evaluator")
        _name(figure, panes[0], shown)

    alt = f"Error rate of each system on {where(group)}, by labels and by {len(shown)} evaluators; below the diagonal "
    return draw_figure(paint, alt=f"{alt}errors are missed.", width=8.0, height=max(3.6, 0.8 + 0.24 * len(shown)))


def _rates(one: SystemBias) -> tuple[float, float]:
    return 100 * (one.labelled.value or 0.0), 100 * (one.predicted.value or 0.0)


def draw_reliability(at: AuditAt, group: Group, members: frozenset[str], marks: Marks) -> Markup | None:
    """Plots the fraction of attributable claims in each tenth of the score range against the mean score. The chart is
    the same at every threshold, so it is drawn only at the first."""
    del members
    drawn = [one for one in at.reliability if one.group.is_like(group)]
    if not drawn or at.threshold != THRESHOLD:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for one in drawn:
            points = [(100 * (each.mean_score or 0.0), 100 * (each.attributable or 0.0)) for each in one.bins if each.n]
            _put(axes, points, marks[one.evaluator], "-")
        _square(axes, "mean score, %")
        axes.set_ylabel("% true by label")
        _name(figure, axes, [marks[one.evaluator] for one in drawn])

    alt = f"Share of claims that are true against their mean score, by tenths, for {len(drawn)} evaluators on "
    alt = f"{alt}{where(group)}; on the diagonal, scores are probabilities."
    return draw_figure(paint, alt=alt, width=6.0, height=max(4.0, 0.8 + 0.24 * len(drawn)))


def draw_agreement(at: AuditAt, group: Group, members: frozenset[str], marks: Marks) -> Markup | None:
    """Draws how evaluators agree with each other and with the labels: one matrix of IoU values per verdict."""
    del members
    found = [one for one in at.agreement if one.group.is_like(group)]
    values = [
        {(one.evaluator, one.other): one.unattributable.value for one in found},
        {(one.evaluator, one.other): one.attributable.value for one in found},
    ]
    if all(value is None for pane in values for value in pane.values()):
        return None
    names: list[str | None] = [None, *marks]

    def paint(figure: Figure) -> None:
        panes = figure.subplots(1, 2, sharey=True)
        for axes, pane, title in zip(panes, values, ("Rejected by both", "Accepted by both"), strict=True):
            _paint_matrix(axes, pane, names)
            axes.set_title(title, loc="left", fontsize=10, color=QUIET)

    alt = f"Agreement (IoU) of {len(marks)} evaluators with one another and with the labels on {where(group)}."
    return draw_figure(paint, alt=alt, width=8.0, height=1.4 + 0.42 * len(names))


def _paint_matrix(
    axes: Axes, values: Mapping[tuple[str, str | None], float | None], names: Sequence[str | None]
) -> None:
    from matplotlib.patches import Rectangle

    for y, one in enumerate(names):
        for x, other in enumerate(names[:y]):
            assert one is not None
            value = values[(one, other)] if (one, other) in values else values.get((other or "", one))
            if value is not None:
                shade = 0.08 + 0.5 * value
                axes.add_patch(Rectangle((x - 0.47, y - 0.45), 0.94, 0.9, color=SERIES[0], alpha=shade, linewidth=0))
            axes.text(x, y, "–" if value is None else f"{100 * value:.0f}", ha="center", va="center", color=INK)
    shown = ["labels" if name is None else short(name) for name in names]
    axes.set_yticks(range(1, len(names)), shown[1:])
    axes.set_xticks(range(len(names) - 1), shown[:-1], rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(names) - 1.4)
    axes.set_ylim(len(names) - 0.4, 0.4)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def draw_adjustment(at: AuditAt, group: Group, members: frozenset[str], marks: Marks) -> Markup | None:
    """Plots each method's mean and worst bias, averaged over calibration systems."""
    del members
    found: list[AdjustmentReport | MeanAdjustment] = [one for one in at.mean_adjustments if one.group.is_like(group)]
    found += [one for one in at.adjustment if group.kind == "dataset" and one.dataset == group.name]
    drawn = [
        (marks[one.evaluator], method.method, 100 * method.mean_bias, 100 * method.worst_bias)
        for one in found
        for method in one.methods
        if method.mean_bias is not None and method.worst_bias is not None
    ]
    if not drawn:
        return None

    def paint(axes: Axes) -> None:
        for y, (mark, method, mean, worst) in enumerate(drawn):
            for value, colour, marker in ((mean, SERIES[0], "o"), (worst, SERIES[7], "D")):
                fill = PAPER if method is AdjustmentMethod.UNADJUSTED else colour
                (point,) = axes.plot([value], [y], marker, color=colour, markersize=7, markerfacecolor=fill, zorder=3)
                point.set_gid(mark.gid)
        axes.set_yticks(range(len(drawn)), [f"{short(mark.name)}: {METHODS[method]}" for mark, method, *_ in drawn])
        axes.set_ylim(len(drawn) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlim(left=0)
        axes.set_xlabel("points off (● mean, ◆ worst system; hollow: unadjusted)")

    alt = (
        f"Mean (circles) and worst (diamonds) bias on {where(group)} without adjustment and with each of three methods."
    )
    return draw(paint, alt=alt, width=8.0, height=1.0 + 0.26 * len(drawn))
