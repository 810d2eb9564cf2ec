"""Raw and corrected figures of a run as sheets, and how the evaluator did on the labelled claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from factloop.evaluation.debiasing.records import LEVEL, Estimate, Method
from factloop.evaluation.runs.records import Calibration, RunDebiasing
from factloop.evaluation.runs.views.debiasing_words import (
    CAUTION_WORDS,
    METHOD_WORDS,
    NO_INTERVAL_WORDS,
    weight_words,
)
from factloop.evaluation.runs.views.sheets import interval_head
from factloop.evaluation.runs.views.words import interval, share
from factloop.reports.figures import plural
from factloop.reports.sheet.table import Cell, Column, ColumnOf, Sheet, figure_cell, name, sheet_of


def estimates(one: RunDebiasing) -> Iterator[tuple[str, Estimate, str]]:
    """Each figure of a system with its name and what it rests on, raw before corrected."""
    for estimate in (one.precision.raw, one.precision.prediction_powered, one.precision.adjusted_count):
        yield "Precision, all claims", estimate, _basis(estimate, plural(estimate.n_run, "claim"))
    if one.precision.own_claims is not None:
        own = one.precision.own_claims
        yield "Precision, this run alone", own, _basis(own, plural(own.n_run, "claim"))
    for f1 in one.f1:
        for estimate in (f1.raw, f1.corrected):
            yield f"F1@{f1.k}", estimate, _basis(estimate, plural(f1.n_responses, "response"))


def _basis(estimate: Estimate, run: str) -> str:
    """`6 claims`, `3 responses, 5 labels`."""
    return run if estimate.method is Method.RAW else f"{run}, {plural(estimate.n_labels, 'label')}"


Row = tuple[str, str, Estimate, bool, str]
"""System, measure, estimate, whether it is the preferred one, and what it rests on."""


def corrected(found: Calibration) -> Sheet:
    columns: tuple[ColumnOf[Row], ...] = (
        (Column("System", is_name=True, is_heading=True, is_as_given=True), lambda row: row[0]),
        (name("Measure"), lambda row: row[1]),
        (name("By"), _method),
        (Column("Value", is_strong=True), lambda row: replace(figure_cell(row[2], share), note="")),
        (Column(interval_head(_level(found))), _interval),
        (Column("Cautions", is_name=True, on_terminal=False), _cautions),
    )
    rows = [
        (one.system, measure, estimate, estimate.method is one.precision.preferred, basis)
        for one in found.systems
        for measure, estimate, basis in estimates(one)
    ]
    return sheet_of("Raw and corrected", columns, rows)


def _method(row: Row) -> Cell:
    words = METHOD_WORDS[row[2].method]
    return Cell(f"{words}, preferred" if row[3] else words, weight_words(row[2]), basis=row[4])


def _interval(row: Row) -> Cell:
    """The interval, or a dash and why there is none."""
    why = next((NO_INTERVAL_WORDS[one] for one in row[2].cautions if one in NO_INTERVAL_WORDS), "")
    is_missing = row[2].value is not None and row[2].interval is None
    return Cell(interval(row[2].low, row[2].high), why if is_missing else "")


def _cautions(row: Row) -> Cell:
    return Cell("; ".join(CAUTION_WORDS[one] for one in row[2].cautions))


def _level(found: Calibration) -> float:
    return found.systems[0].precision.raw.level if found.systems else LEVEL


def evaluator(found: Calibration) -> Sheet:
    """TPR and FPR on the labelled claims of each system: a line for each, with its interval and what it rests on."""
    columns: tuple[ColumnOf[_Rate], ...] = (
        (Column("System", is_name=True, is_heading=True, is_as_given=True), lambda row: row[0]),
        (name("Measure"), lambda row: row[1]),
        (Column("Value", is_strong=True), lambda row: share(row[2])),
        (Column(interval_head(_level(found))), lambda row: interval(*row[3])),
        (name("Of labelled claims"), lambda row: row[4]),
    )
    rows = [(one.system, *each) for one in found.systems for each in _rates(one)]
    return sheet_of("The evaluator on the labelled claims", columns, rows)


_Rate = tuple[str, str, float | None, tuple[float | None, float | None], str]


def _rates(one: RunDebiasing) -> Iterator[tuple[str, float | None, tuple[float | None, float | None], str]]:
    found = one.precision.evaluator
    unscored = f", {found.n_unscored:,} without a verdict" if found.n_unscored else ""
    yield "TPR", found.tpr, (found.tpr_low, found.tpr_high), f"{found.n_supported:,} supported{unscored}"
    yield "FPR", found.fpr, (found.fpr_low, found.fpr_high), f"{found.n_not_supported:,} not supported"
