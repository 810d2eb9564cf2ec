"""Raw and corrected figures of a run as sheets, and how the evaluator did on the labelled claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from factloop.evaluation.debiasing.records import LEVEL, Estimate
from factloop.evaluation.runs.records import Calibration, RunDebiasing
from factloop.evaluation.runs.views.debiasing_words import CAUTION_WORDS, METHOD_WORDS, weight_words
from factloop.evaluation.runs.views.sheets import interval_head
from factloop.evaluation.runs.views.words import interval, share
from factloop.reports.sheet.table import NOTHING, Cell, Column, ColumnOf, Sheet, figure_cell, name, page_only, sheet_of


def estimates(one: RunDebiasing) -> Iterator[tuple[str, Estimate]]:
    """Each figure of a system with its name, raw before corrected."""
    for estimate in (one.precision.raw, one.precision.prediction_powered, one.precision.adjusted_count):
        yield "Precision, all claims", estimate
    if one.precision.own_claims is not None:
        yield "Precision, this run alone", one.precision.own_claims
    for f1 in one.f1:
        yield f"F1@{f1.k}", f1.raw
        yield f"F1@{f1.k}", f1.corrected


Row = tuple[str, str, Estimate, bool]
"""System, measure, estimate, and whether it is the preferred one."""


def corrected(found: Calibration) -> Sheet:
    columns: tuple[ColumnOf[Row], ...] = (
        (Column("System", is_name=True, is_heading=True, is_as_given=True), lambda row: row[0]),
        (name("Measure"), lambda row: row[1]),
        (name("By"), _method),
        (Column("Value", is_strong=True), lambda row: replace(figure_cell(row[2], share), note="")),
        (Column(interval_head(_level(found))), lambda row: interval(row[2].low, row[2].high)),
        (page_only("Claims"), lambda row: row[2].n_run),
        (page_only("Labelled"), lambda row: row[2].n_labels or NOTHING),
        (Column("Cautions", is_name=True, on_terminal=False), _cautions),
    )
    rows = [
        (one.system, measure, estimate, estimate.method is one.precision.preferred)
        for one in found.systems
        for measure, estimate in estimates(one)
    ]
    return sheet_of("Raw and corrected", columns, rows)


def _method(row: Row) -> Cell:
    words = METHOD_WORDS[row[2].method]
    return Cell(f"{words}, preferred" if row[3] else words, weight_words(row[2]))


def _cautions(row: Row) -> Cell:
    return Cell("; ".join(CAUTION_WORDS[one] for one in row[2].cautions))


def _level(found: Calibration) -> float:
    return found.systems[0].precision.raw.level if found.systems else LEVEL


def evaluator(found: Calibration) -> Sheet:
    columns: tuple[ColumnOf[RunDebiasing], ...] = (
        (name("System"), lambda one: one.system),
        (Column("TPR"), lambda one: share(one.precision.evaluator.tpr)),
        (Column("Of supported"), lambda one: one.precision.evaluator.n_supported),
        (Column("FPR"), lambda one: share(one.precision.evaluator.fpr)),
        (Column("Of not supported"), lambda one: one.precision.evaluator.n_not_supported),
        (Column("Unscored"), lambda one: one.precision.evaluator.n_unscored),
    )
    return sheet_of("The evaluator on the labelled claims", columns, found.systems)
