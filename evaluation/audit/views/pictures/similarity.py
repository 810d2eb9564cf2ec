"""TPR and TNR by how much of a claim's wording the document has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.audit.surface import N_BINS, SurfaceBias
from factloop.evaluation.audit.views.pictures.marks import Mark, short
from factloop.reports.pictures import PAPER, QUIET, draw_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_similarity(found: Sequence[SurfaceBias], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """A line for each evaluator over the bins, TPR and TNR apart; None where no bin has a claim."""
    drawn = [one for one in found if one.n]
    if not drawn:
        return None

    def paint(figure: Figure) -> None:
        panes = figure.subplots(1, 2, sharey=True)
        for one in drawn:
            mark = marks[one.evaluator]
            _put(panes[0], [part.tpr for part in one.bins], mark)
            _put(panes[1], [part.tnr for part in one.bins], mark)
        for axes, title in zip(panes, ("TPR: true claims passed", "TNR: false claims stopped"), strict=True):
            axes.set_title(title, loc="left", fontsize=10, color=QUIET)
            axes.set_xlim(0.6, N_BINS + 0.4)
            axes.set_ylim(-3, 103)
            axes.set_xticks(range(1, N_BINS + 1), ["1 least", *map(str, range(2, N_BINS)), f"{N_BINS} most"])
            axes.set_xlabel("wording shared with the document")
        panes[0].set_ylabel("%")
        handles = panes[0].get_lines()[: len(drawn)]
        names = [short(one.evaluator) for one in drawn]
        figure.legend(handles, names, loc="outside right upper", handletextpad=0.4)

    alt = f"TPR and TNR of {len(drawn)} evaluators on {where} over five bins, from least to most shared wording."
    return draw_figure(paint, alt=alt, width=8.0, height=max(3.2, 0.8 + 0.24 * len(drawn)))


def _put(axes: Axes, values: Sequence[float | None], mark: Mark) -> None:
    """The line breaks where a bin has no such claim."""
    heights = [float("nan") if value is None else 100 * value for value in values]
    (line,) = axes.plot(
        range(1, len(heights) + 1),
        heights,
        color=mark.colour,
        marker=mark.marker,
        markersize=6,
        markeredgecolor=PAPER,
        linewidth=1.6,
    )
    line.set_gid(mark.gid)
