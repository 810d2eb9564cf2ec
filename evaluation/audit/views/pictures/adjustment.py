"""How far error rates are off before and after they were adjusted on one labelled system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.audit.adjustment_records import AdjustmentMethod, AdjustmentReport, MeanAdjustment
from factloop.evaluation.audit.views.pictures.marks import Dot, Mark, name_lines, put_dot, short
from factloop.reports.pictures import SERIES, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHOD_NAMES = {
    AdjustmentMethod.UNADJUSTED: "unadjusted",
    AdjustmentMethod.ADJUSTED_COUNTS: "adjusted counts",
    AdjustmentMethod.ZERO_BIAS: "zero bias",
    AdjustmentMethod.BALANCED_ACCURACY: "balanced accuracy",
}


def draw_adjustment(
    found: Sequence[AdjustmentReport | MeanAdjustment], marks: Mapping[str, Mark], where: str
) -> Markup | None:
    """Mean and worst magnitude left by each method, averaged over calibration systems; None where nothing is."""
    drawn = [
        (f"{short(one.evaluator)}: {METHOD_NAMES[method.method]}", marks[one.evaluator], method)
        for one in found
        for method in one.methods
        if method.mean_bias is not None and method.worst_bias is not None
    ]
    if not drawn:
        return None

    def paint(axes: Axes) -> None:
        for y, (_, mark, method) in enumerate(drawn):
            is_plain = method.method is AdjustmentMethod.UNADJUSTED
            assert method.mean_bias is not None
            assert method.worst_bias is not None
            put_dot(axes, Dot(method.mean_bias), y, mark, colour=SERIES[0], marker="o", is_hollow=is_plain)
            put_dot(axes, Dot(method.worst_bias), y, mark, colour=SERIES[7], marker="D", is_hollow=is_plain)
        name_lines(axes, [mark for _, mark, _ in drawn])
        axes.set_yticks(range(len(drawn)), [name for name, _, _ in drawn])
        axes.set_xlim(left=0)
        axes.set_xlabel("points off (● mean, ◆ worst system; hollow: unadjusted)")

    alt = f"Mean (circles) and worst (diamonds) bias on {where} without adjustment and with each of three methods."
    return draw(paint, alt=alt, width=7.5, height=1.0 + 0.26 * len(drawn))
