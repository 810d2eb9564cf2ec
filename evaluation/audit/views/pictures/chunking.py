"""How many predictions change when an evaluator reads its documents in chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.evaluation.audit.chunking import Changes, ChunkingBias
from factloop.evaluation.audit.views.pictures.marks import Mark, name_lines, short
from factloop.reports.pictures import PAPER, SERIES, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("in one chunk", "across chunks")


def draw_chunking(found: Sequence[ChunkingBias], marks: Mapping[str, Mark], where: str) -> Markup | None:
    """Two bars for each evaluator: R2-diff of zero, and above; None where no document is cut."""
    drawn = [
        (f"{short(one.chunked)}, {kind}", marks[one.evaluator], changes)
        for one in found
        for kind, changes in zip(KINDS, (one.within, one.across), strict=True)
        if changes.n
    ]
    if not drawn:
        return None

    def paint(axes: Axes) -> None:
        for y, (_, mark, changes) in enumerate(drawn):
            _put(axes, y, mark, changes)
        name_lines(axes, [Mark(mark.number, name) for name, mark, _ in drawn])
        axes.set_yticks(range(len(drawn)), [name for name, _, _ in drawn])
        axes.set_xlim(left=0)
        axes.set_xlabel("% of predictions that change (plain: lost, hatched: gained)")

    alt = f"Predictions on {where} that change when documents are cut, for claims that one chunk carries and others."
    return draw(paint, alt=alt, width=6.5, height=1.1 + 0.38 * len(drawn))


def _put(axes: Axes, y: float, mark: Mark, changes: Changes) -> None:
    lost, gained = 100 * (changes.share_lost or 0.0), 100 * (changes.share_gained or 0.0)
    for part in (
        axes.barh(y, lost, height=0.55, color=SERIES[7], edgecolor=PAPER),
        axes.barh(y, gained, height=0.55, left=lost, color=PAPER, edgecolor=SERIES[2], hatch="////"),
    ):
        part[0].set_gid(mark.gid)
    axes.annotate(
        f"{lost + gained:.1f} of {changes.n:,}",
        (lost + gained, y),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
    )
