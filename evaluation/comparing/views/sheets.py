"""A comparison as sheets: its differences, the verdicts of both sides on the same claims, and people's labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from factloop.evaluation.comparing.records import (
    ClaimAgreement,
    ClaimFigure,
    Comparison,
    LabelComparison,
    PairedDifference,
)
from factloop.evaluation.comparing.words import name_of, p_value, point_interval, points
from factloop.evaluation.runs.views.words import share
from factloop.reports.figures import percent
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    Column,
    Sheet,
    Told,
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
    told: tuple[Told[PairedDifference], ...] = (
        (name(""), name_of),
        (Column("A"), lambda one: value_cell(one.first, share)),
        (Column("B"), lambda one: value_cell(one.second, share)),
        (Column("Points", is_strong=True), _points),
        (Column(f"{percent(comparison.level)} interval"), _interval),
        (Column("p"), lambda one: p_value(one.p)),
        (Column("p corrected"), lambda one: p_value(one.p_corrected)),
        (Column("A higher"), lambda one: one.first_higher),
        (Column("Equal"), lambda one: one.equal),
        (Column("B higher"), lambda one: one.second_higher),
        (page_only("Pairs"), lambda one: one.n_pairs),
        (page_only("Prompts"), lambda one: one.n_prompts),
        (Column("Left out"), lambda one: one.n_left_out),
    )
    return sheet_of("Differences, B minus A", told, comparison.differences)


def _points(one: PairedDifference) -> Cell:
    return value_cell(one.difference, points, "no pair has a value on both sides")


def _interval(one: PairedDifference) -> str:
    return NOTHING if one.low is None or one.high is None else point_interval(one.low, one.high)


def verdicts(claims: ClaimAgreement) -> Sheet:
    def counted(column: int) -> Callable[[int], Cell]:
        return lambda row: replace(count_cell(claims.table[row][column]), is_marked=row == column)

    told: tuple[Told[int], ...] = (
        (name("A \\ B"), lambda row: VERDICT_WORDS[row]),
        *((Column(words), counted(column)) for column, words in enumerate(VERDICT_WORDS)),
    )
    return sheet_of("Verdicts on the same claims, A in rows, B in columns", told, range(len(VERDICT_WORDS)))


def agreement(claims: ClaimAgreement) -> Sheet:
    figures = (("Same verdict, of claims both judged", claims.agreement), ("Cohen’s kappa", claims.kappa))
    told: tuple[Told[tuple[str, ClaimFigure]], ...] = (
        (name(""), lambda row: row[0]),
        (Column("Value, interval, n", is_strong=True), lambda row: figure_cell(row[1], share)),
    )
    return sheet_of("Agreement of A and B", told, figures)


def labels(found: LabelComparison) -> Sheet:
    rows = (("Agreement with labels", *found.agreement), ("Balanced accuracy", *found.balanced_accuracy))
    told: tuple[Told[tuple[str, ClaimFigure, ClaimFigure, ClaimFigure]], ...] = (
        (name(""), lambda row: row[0]),
        (Column("A", is_strong=True), lambda row: figure_cell(row[1], share)),
        (Column("B", is_strong=True), lambda row: figure_cell(row[2], share)),
        (Column("B minus A, points", is_strong=True), lambda row: figure_cell(row[3], points, "{} to {}".format)),
    )
    return sheet_of("Agreement with labels", told, rows)
