"""A comparison as sheets: its differences, the verdicts of both sides on the same claims, and people's labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from factloop.evaluation.comparing.records import ClaimAgreement, Comparison, LabelComparison, PairedDifference
from factloop.evaluation.comparing.words import level_words, name_of, p_value, point_interval, points, why_no_interval
from factloop.evaluation.runs.views.words import share
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    Column,
    ColumnOf,
    Line,
    Sheet,
    count_cell,
    figure_cell,
    name,
    page_only,
    sheet_of,
    value_cell,
)

VERDICT_WORDS = ("Supported", "Not supported", "Irrelevant", "Unscored")
"""In the order of the table of a `ClaimAgreement`."""


def differences(comparison: Comparison) -> Sheet:
    """A line for each quantity."""
    columns: tuple[ColumnOf[PairedDifference], ...] = (
        (name(""), name_of),
        (Column("A"), lambda one: value_cell(one.first, share)),
        (Column("B"), lambda one: value_cell(one.second, share)),
        (Column("Points", is_strong=True), _points),
        (Column("Interval"), lambda one: _interval(one, comparison)),
        (Column("p"), lambda one: p_value(one.p)),
        (Column("p adjusted"), lambda one: p_value(one.p_corrected)),
        (Column("A higher"), lambda one: one.first_higher),
        (Column("Equal"), lambda one: one.equal),
        (Column("B higher"), lambda one: one.second_higher),
        (page_only("Pairs"), lambda one: one.n_pairs),
        (page_only("Prompts"), lambda one: one.n_prompts),
        (Column("Left out"), lambda one: one.n_left_out),
    )
    return sheet_of("Differences, B minus A", columns, comparison.differences)


def _points(one: PairedDifference) -> Cell:
    return value_cell(one.difference, points, "no pair has a value on both sides")


def _interval(one: PairedDifference, comparison: Comparison) -> Cell:
    level = comparison.level
    why = why_no_interval(one, level, has_intervals=comparison.n_resamples > 0)
    if one.low is None or one.high is None:
        return Cell(NOTHING, "" if one.difference is None else why)
    return Cell(point_interval(one.low, one.high), level_words(one.level or level))


def verdicts(claims: ClaimAgreement) -> Sheet:
    columns = (name("A \\ B"), *map(Column, VERDICT_WORDS))
    lines = (
        Line((Cell(words), *(replace(count_cell(n), is_marked=place == other) for other, n in enumerate(row))))
        for place, (words, row) in enumerate(zip(VERDICT_WORDS, claims.table, strict=True))
    )
    return Sheet("Verdicts on the same claims, A in rows, B in columns", columns, tuple(lines))


def agreement(claims: ClaimAgreement) -> Sheet:
    rows = (("Same verdict, of claims both judged", claims.agreement), ("Cohen’s kappa", claims.kappa))
    return sheet_of("Agreement of A and B", (_NAME, _figure("Value, interval, n", 1)), rows)


def labels(found: LabelComparison) -> Sheet:
    rows = (("Agreement with labels", *found.agreement), ("Balanced accuracy", *found.balanced_accuracy))
    apart: ColumnOf[Any] = (
        Column("B minus A, points", is_strong=True),
        lambda row: figure_cell(row[3], points, "{} to {}".format),
    )
    return sheet_of("Agreement with labels", (_NAME, _figure("A", 1), _figure("B", 2), apart), rows)


_NAME: ColumnOf[Any] = (name(""), lambda row: row[0])


def _figure(head: str, place: int) -> ColumnOf[Any]:
    return Column(head, is_strong=True), lambda row: figure_cell(row[place], share)
