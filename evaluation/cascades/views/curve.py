"""The share of claims sent to the model against the error stated, and the error that is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.checking.cascade.records import CascadePoint
from factloop.reports.figures import percent, plural
from factloop.reports.pictures import INK, QUIET, SERIES, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_cascade_curve(curve: Sequence[CascadePoint], *, stated: float) -> Markup | None:
    """Both against the error stated, that of the cascade marked; None without points."""
    if not curve:
        return None

    def paint(axes: Axes) -> None:
        at = [100 * point.max_error for point in curve]
        axes.axvline(100 * stated, color=QUIET, linewidth=1, linestyle="dotted")
        axes.plot(at, [100 * point.share_sent for point in curve], color=SERIES[0], marker="o", label="to the model")
        left = [(x, 100 * p.balanced_error) for x, p in zip(at, curve, strict=True) if p.balanced_error is not None]
        if left:
            xs, ys = zip(*left, strict=True)
            axes.plot(xs, ys, color=SERIES[1], marker="s", label="balanced error")
        axes.set_ylim(-2, 102)
        axes.set_xlabel("error stated, %")
        axes.set_ylabel("%")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), labelcolor=INK)

    alt = (
        f"Share of claims sent to the model at {plural(len(curve), 'stated error')} from {percent(curve[0].max_error)} "
        f"to {percent(curve[-1].max_error)}, and the balanced error of the whole if the model never erred."
    )
    return draw(paint, alt=alt, width=8.0, height=3.4)
