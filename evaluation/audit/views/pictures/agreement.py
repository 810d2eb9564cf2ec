"""How far evaluators, and the labels, name the same claims: a matrix of IoU for either verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.audit.agreement import PairAgreement
from factloop.evaluation.audit.views.pictures.marks import Mark, short
from factloop.reports.pictures import INK, QUIET, SERIES, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = "labels"


def draw_agreement(found: Sequence[PairAgreement], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """A pane for each verdict; None where nothing is defined."""
    values = [
        {(one.evaluator, one.other): one.unattributable.value for one in found},
        {(one.evaluator, one.other): one.attributable.value for one in found},
    ]
    if all(value is None for pane in values for value in pane.values()):
        return None
    paired = {name for one in found for name in (one.evaluator, one.other)}
    names: list[str | None] = [None, *(name for name in marks if name in paired)]

    def paint(figure: Figure) -> None:
        panes = figure.subplots(1, 2, sharey=True)
        for axes, pane, title in zip(panes, values, ("Called wrong", "Called right"), strict=True):
            _paint(axes, pane, names)
            axes.set_title(title, loc="left", fontsize=10, color=QUIET)

    alt = f"Agreement (IoU) of {len(names) - 1} evaluators with one another and with the labels on {where}."
    return draw_figure(paint, alt=alt, width=8.0, height=1.4 + 0.42 * len(names))


def _paint(axes: Axes, values: Mapping[tuple[str, str | None], float | None], names: Sequence[str | None]) -> None:
    """The lower triangle, as the pairs have no order."""
    from matplotlib.patches import Rectangle

    for y, one in enumerate(names):
        for x, other in enumerate(names[:y]):
            assert one is not None
            value = values[(one, other)] if (one, other) in values else values.get((other or "", one))
            if value is not None:
                shade = 0.08 + 0.5 * value
                axes.add_patch(Rectangle((x - 0.47, y - 0.45), 0.94, 0.9, color=SERIES[0], alpha=shade, linewidth=0))
            axes.text(x, y, "–" if value is None else f"{100 * value:.0f}", ha="center", va="center", color=INK)
    shown = [LABELS if name is None else short(name) for name in names]
    axes.set_yticks(range(1, len(names)), shown[1:])
    axes.set_xticks(range(len(names) - 1), shown[:-1], rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(names) - 1.4)
    axes.set_ylim(len(names) - 0.4, 0.4)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
