"""The figures of several data sets under each other, an evaluator at a time: what the small multiples show."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.evaluation.audit.agreement import PairAgreement
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.quantification import DatasetBias
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.report import AuditAt
from factloop.evaluation.audit.system_groups import GroupHeadroom
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views.scope import EVALUATOR, estimate_cell, of_evaluator, percent, share_column
from factloop.reports.sheet.table import Cell, ColumnOf, Sheet, name, sheet_of, value_cell


def trade_off(found: Sequence[EvaluatorRates]) -> Sheet:
    """TPR, TNR and their gap on each data set, of claims."""
    columns: tuple[ColumnOf[EvaluatorRates], ...] = (
        EVALUATOR,
        (name("Data set"), lambda one: one.group.name),
        (share_column("TPR"), lambda one: estimate_cell(one.tpr, one.level.value)),
        (share_column("TNR"), lambda one: estimate_cell(one.tnr, one.level.value)),
        (share_column("Gap"), lambda one: estimate_cell(one.gap, one.level.value)),
    )
    rows = [one for one in found if one.level is Level.CLAIM]
    return sheet_of("Rates by data set, %", columns, rows, of=of_evaluator)


def bias(found: Sequence[DatasetBias]) -> Sheet:
    """The error rate of all claims of each data set, by labels and by evaluator."""
    columns: tuple[ColumnOf[DatasetBias], ...] = (
        EVALUATOR,
        (name("Data set"), lambda one: one.dataset),
        (share_column("By label"), lambda one: estimate_cell(one.labelled, one.level.value)),
        (share_column("By evaluator"), lambda one: estimate_cell(one.predicted, one.level.value)),
        (share_column("Bias"), lambda one: estimate_cell(one.bias, one.level.value)),
    )
    return sheet_of("Error rate of each data set, %", columns, found, of=of_evaluator)


def group_headrooms(found: Sequence[GroupHeadroom]) -> Sheet:
    """The headroom of each group of systems, by labels and by evaluator, of claims."""
    columns: tuple[ColumnOf[GroupHeadroom], ...] = (
        EVALUATOR,
        (name("Data set"), lambda one: one.dataset),
        (name("Systems"), lambda one: Cell(one.group, basis=", ".join(one.systems))),
        (share_column("By label"), lambda one: value_cell(one.labelled, percent)),
        (share_column("By evaluator"), lambda one: value_cell(one.predicted, percent)),
        (share_column("Off by"), lambda one: value_cell(one.bias, percent, basis=f"n {one.n:,}")),
    )
    rows = [one for one in found if one.level is Level.CLAIM]
    return sheet_of("Headroom by group of systems, %", columns, rows, of=of_evaluator)


def pair(found: Sequence[PairAgreement]) -> Sheet:
    """The agreement of one pair of evaluators on each data set."""
    columns: tuple[ColumnOf[PairAgreement], ...] = (
        (name("Data set"), lambda one: one.group.name),
        (share_column("Called wrong"), lambda one: estimate_cell(one.unattributable, "claim")),
        (share_column("Called right"), lambda one: estimate_cell(one.attributable, "claim")),
    )
    title = f"Agreement of {found[0].evaluator} and {found[0].other}, %" if found else "Agreement, %"
    return sheet_of(title, columns, found)


def best_pair(at: AuditAt, group: Group, found: Sequence[PairAgreement]) -> list[PairAgreement]:
    """Of the agreements that of the two evaluators with the highest balanced accuracy over the group; none without two.

    Of equal ones the first by name counts.
    """
    means = [
        (-one.balanced_accuracy.value, one.evaluator)
        for one in at.rates.rates
        if one.level is Level.CLAIM and one.group == group and one.balanced_accuracy.value is not None
    ]
    best = {evaluator for _, evaluator in sorted(means)[:2]}
    return [one for one in found if {one.evaluator, one.other} == best] if len(best) == 2 else []
