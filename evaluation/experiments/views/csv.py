"""An experiment as tables: the claims that flipped, the differences, and the figures of each variant."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.evaluation.experiments.report import ExperimentReport, Flip
from factloop.reports.downloads import Cell

_SIDE = ("verdict", "n_repeats", "n_scored", "rationale", "cited")
FLIPS = (
    "first", "second", "group", "claim_id", "claim", "gold", "direction",
    *(f"{side}_{name}" for side in ("first", "second") for name in _SIDE),
)  # fmt: skip
DIFFERENCES = (
    "first", "second", "quantity", "k", "first_value", "second_value", "value", "low", "high", "level", "n",
    "n_groups", "n_left_out", "p", "p_corrected", "p_mcnemar", "detectable", "is_headline", "outcome", "undefined",
    "words",
)  # fmt: skip
_CELL = ("verdict", "unscored_reason", "value", "n_scored", "n_repeats")
FIGURES = ("variant", "quantity", "k", "value", "low", "high", "n", "n_groups", "n_left_out", "undefined")


def flip_rows(report: ExperimentReport) -> Iterator[tuple[Cell, ...]]:
    """One for each flip; of cited passages the sources, one a line."""
    for one in report.flips:
        gold = None if one.gold is None else "supported" if one.gold else "not_supported"
        named = (one.first, one.second, one.group, one.claim_id, one.claim, gold, one.direction.value)
        yield (*named, *_side_cells(one))


def _side_cells(one: Flip) -> Iterator[Cell]:
    for side in (one.first_side, one.second_side):
        cited = "\n".join(passage.source for passage in side.cited)
        yield from (side.verdict.value, side.n_repeats, side.n_scored, side.rationale, cited)


def item_columns(report: ExperimentReport) -> tuple[str, ...]:
    """The item, then the verdict, value and repeats of each variant."""
    of_variants = (f"{one.variant.name}_{name}" for one in report.variants for name in _CELL)
    return ("group", "item_id", "claim", "gold", *of_variants)


def item_rows(report: ExperimentReport) -> Iterator[tuple[Cell, ...]]:
    """One for each item of the data."""
    for one in report.items:
        gold = None if one.gold is None else "supported" if one.gold else "not_supported"
        cells = (getattr(cell, name) for cell in one.cells for name in _CELL)
        yield (one.group, one.item_id, one.claim, gold, *cells)


def difference_rows(report: ExperimentReport) -> Iterator[tuple[Cell, ...]]:
    for one in report.differences:
        yield tuple(getattr(one, name) for name in DIFFERENCES)


def figure_rows(report: ExperimentReport) -> Iterator[tuple[Cell, ...]]:
    """Stability stands among a variant's figures as `stability` and `fleiss_kappa`."""
    for variant in report.variants:
        name = variant.variant.name
        for one in variant.figures:
            yield (name, *(getattr(one, field) for field in FIGURES[1:]))
        for quantity, figure in (("stability", variant.stability.share), ("fleiss_kappa", variant.stability.kappa)):
            yield (name, quantity, None, *(getattr(figure, field) for field in FIGURES[3:]))
