"""F1@K of the systems of a run against K: who leads may depend on how much a reader wishes to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.audit.views.pictures.marks import Mark, short
from factloop.evaluation.runs.longform_records import CurvePoint
from factloop.reports.figures import plural
from factloop.reports.pictures import INK, QUIET, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SYSTEMS = 16
"""Lines that an eye can still follow."""
_LOGARITHMIC_FROM = 100
_MARKED = 8
"""Markers on each line."""


def draw_curve(curve: Sequence[CurvePoint], ks: Sequence[int], systems: Sequence[str]) -> Markup | None:
    """A line for each system, in this order; the Ks of the run are marked. None where no system has a value."""
    lines = {name: [(one.k, one.f1.get(name)) for one in curve] for name in systems}
    drawn = {name: line for name, line in lines.items() if any(value is not None for _, value in line)}
    if not drawn:
        return None

    def paint(axes: Axes) -> None:
        highest = max(one.k for one in curve)
        for k in ks:
            if k <= highest:
                axes.axvline(k, color=QUIET, linewidth=1, linestyle="dotted")
        for number, (name, line) in enumerate(drawn.items()):
            mark, points = Mark(number, name), [(k, 100 * value) for k, value in line if value is not None]
            axes.plot(
                [k for k, _ in points],
                [value for _, value in points],
                color=mark.colour,
                marker=mark.marker,
                markevery=max(1, len(points) // _MARKED),
                markersize=5,
                linewidth=1.6,
                label=short(name),
            )
        if highest >= _LOGARITHMIC_FROM:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.xaxis.set_minor_formatter("")
        else:
            axes.locator_params(axis="x", integer=True)
        axes.set_ylim(-2, 102)
        axes.set_xlabel("K, the number of supported claims wished for")
        axes.set_ylabel("F1@K, %")
        if len(drawn) > 1:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), labelcolor=INK, handlelength=2.5)

    alt = f"Mean F1@K of {plural(len(drawn), 'system')} against K from 1 to {curve[-1].k:,}."
    return draw(paint, alt=alt, width=8.0, height=max(3.4, 0.9 + 0.2 * len(drawn)))
