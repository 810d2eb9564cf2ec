"""Rates, agreement, error rates and the order of systems as sheets: what the terminal and the page have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.quantification import EvaluatorBias, SystemBias
from factloop.evaluation.audit.ranking import MeanRanking, Order, Ranking
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.report import AuditAt
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views.scope import (
    BY_LEVEL,
    Scope,
    count_column,
    estimate_cell,
    of_evaluator,
    percent,
    share_column,
    value_alone,
)
from factloop.evaluation.audit.views.words import LEVELS, ORDERS, title_of
from factloop.evaluation.mixedqa.views.correlation_figures import coefficient
from factloop.evaluation.statistics.correlation import Correlation
from factloop.reports.figures import plural
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    Column,
    ColumnOf,
    Sheet,
    count_cell,
    figure_cell,
    name,
    page_only,
    sheet_of,
    value_cell,
)

MOST_LINES = 40
"""Figures by data set, at most."""
Ranked = Ranking | MeanRanking


def rates(scope: Scope) -> Sheet:
    columns: tuple[ColumnOf[EvaluatorRates], ...] = (
        *BY_LEVEL,
        (share_column("Balanced accuracy"), lambda one: estimate_cell(one.balanced_accuracy, one.level.value)),
        (share_column("TPR"), lambda one: estimate_cell(one.tpr, one.level.value)),
        (share_column("TNR"), lambda one: estimate_cell(one.tnr, one.level.value)),
        (share_column("TPR − TNR"), lambda one: estimate_cell(one.gap, one.level.value)),
        (page_only("FPR"), lambda one: value_alone(one.fpr)),
        (page_only("FNR"), lambda one: value_alone(one.fnr)),
        (count_column("Scored"), lambda one: _scored(one)),
    )
    title = scope.weighted("How often it is right, %")
    return sheet_of(title, columns, scope.of_group(scope.at.rates.rates), of=of_evaluator)


def _scored(one: EvaluatorRates) -> Cell:
    """All that have a verdict, and by label those behind TPR and those behind TNR."""
    unscored = f", {one.n_unscored:,} unscored" if one.n_unscored else ""
    note = f"{one.n_attributable:,} right, {one.n_unattributable:,} wrong by label{unscored}"
    return replace(count_cell(one.n_attributable + one.n_unattributable), note=note)


def _bias_columns(scope: Scope) -> tuple[ColumnOf[EvaluatorBias], ...]:
    """Of several data sets the worst is the mean of theirs, and not the worst system of all, which advice names."""
    worst = "Worst, points off" if scope.group.kind == "dataset" else "Worst of each data set, mean, points off"
    return (
        (share_column("Mean, points off"), lambda one: estimate_cell(one.mean_absolute, one.level.value)),
        (share_column(worst), lambda one: estimate_cell(one.worst_absolute, one.level.value)),
        (page_only("Worst system"), lambda one: one.worst_system or NOTHING),
    )


_HEADROOM: tuple[ColumnOf[EvaluatorBias], ...] = (
    (share_column("Lowest by label, %"), lambda one: estimate_cell(one.headroom_labelled, one.level.value)),
    (page_only("Lowest by evaluator, %"), lambda one: estimate_cell(one.headroom_predicted, one.level.value)),
    (share_column("Lowest, points off"), lambda one: estimate_cell(one.headroom_bias, one.level.value)),
    (page_only("Magnitude, points"), lambda one: estimate_cell(one.headroom_absolute, one.level.value)),
)
_SYSTEMS: ColumnOf[EvaluatorBias] = (count_column("Systems"), lambda one: one.n_systems)


def bias(scope: Scope) -> Sheet:
    return _error_rates("How far error rates are off", (*_bias_columns(scope), _SYSTEMS), scope)


def headroom(scope: Scope) -> Sheet:
    return _error_rates("Headroom", _HEADROOM, scope)


def error_rates(scope: Scope) -> Sheet:
    """Bias and headroom beside each other."""
    return _error_rates("Error rates of systems", (*_bias_columns(scope), *_HEADROOM, _SYSTEMS), scope)


def _error_rates(title: str, columns: Sequence[ColumnOf[EvaluatorBias]], scope: Scope) -> Sheet:
    found = scope.of_group(scope.at.quantification.evaluators)
    return sheet_of(scope.weighted(title), (*BY_LEVEL, *columns), found, of=of_evaluator)


def systems(scope: Scope) -> Sheet:
    columns: tuple[ColumnOf[SystemBias], ...] = (
        *BY_LEVEL,
        (name("System"), lambda one: one.system),
        (Column("% wrong by label"), lambda one: estimate_cell(one.labelled, one.level.value)),
        (Column("% wrong by evaluator"), lambda one: estimate_cell(one.predicted, one.level.value)),
        (Column("Bias, points"), lambda one: estimate_cell(one.bias, one.level.value)),
        (Column("Unscored"), lambda one: one.n_unscored),
    )
    found = scope.of_dataset(scope.at.quantification.systems)
    return sheet_of(scope.weighted("System by system"), columns, found, of=of_evaluator)


def _wrong(one: Ranked) -> Cell:
    return _pairs_cell(one, one.share_wrong, "n_wrong")


def _tau(one: Ranked) -> Cell:
    return _coefficient(one.kendall, one, "n_kendall")


_RANKING: tuple[ColumnOf[Ranked], ...] = (
    *BY_LEVEL,
    (share_column("% of pairs ordered wrongly"), _wrong),
    (share_column("% of pairs reversed"), lambda one: _pairs_cell(one, one.share_reversed, "n_reversed")),
    (share_column("Kendall's tau"), _tau),
    (share_column("Pearson's r"), lambda one: _coefficient(one.pearson, one, "n_pearson")),
    (count_column("Pairs"), lambda one: one.n_pairs),
)
_LEFT_OUT: ColumnOf[Ranking] = (
    page_only("Left out"),
    lambda one: replace(
        count_cell(one.n_left_out),
        basis="with an unscored claim" if one.n_left_out and one.level is Level.RESPONSE else "",
    ),
)


def ranking(scope: Scope) -> Sheet:
    """The ranking of one data set, or the means over several."""
    if scope.group.kind == "dataset":
        title = scope.unweighted("Order of systems")
        return sheet_of(title, (*_RANKING, _LEFT_OUT), scope.of_dataset(scope.at.rankings), of=of_evaluator)
    title = scope.unweighted("Order of systems, mean over data sets")
    return sheet_of(title, _RANKING, scope.of_group(scope.at.mean_rankings), of=of_evaluator)


def _pairs_cell(one: Ranked, share: float | None, count: str) -> Cell:
    rests_on = (
        f"{getattr(one, count):,} of {plural(one.n_pairs, 'pair')}"
        if isinstance(one, Ranking)
        else f"{plural(one.n_pairs, 'pair')}, {plural(one.n_datasets, 'data set')}"
    )
    return value_cell(share, percent, "fewer than two systems", basis=rests_on if one.n_pairs else "")


def _coefficient(found: Correlation | float | None, one: Ranked, count: str) -> Cell:
    if isinstance(found, Correlation):
        return figure_cell(found, coefficient, basis=plural(found.n, "system"))
    return value_cell(found, coefficient, "on every data set", basis=plural(getattr(one, count), "data set"))


def order_table(scope: Scope) -> Sheet:
    """The 3 x 3 table of each evaluator and level, a row of it to a line."""

    def n_pairs(order: Order) -> Callable[[tuple[Ranking, Order]], int]:
        return lambda row: next(
            cell.n_pairs for cell in row[0].cells if (cell.labelled, cell.predicted) == (row[1], order)
        )

    columns: tuple[ColumnOf[tuple[Ranking, Order]], ...] = (
        (name("Evaluator"), lambda row: row[0].evaluator),
        (name("Of"), lambda row: LEVELS[row[0].level]),
        (name("By label the first is"), lambda row: ORDERS[row[1]]),
        *((Column(f"{ORDERS[order].capitalize()} by evaluator"), n_pairs(order)) for order in Order),
    )
    rows = [(one, order) for one in scope.of_dataset(scope.at.rankings) if one.n_pairs for order in Order]
    title = scope.unweighted("Pairs of systems, the first of each having the lower labelled error rate")
    return sheet_of(title, columns, rows, of=lambda row: (row[0].evaluator,))


def agreement(scope: Scope, *, most: int | None = None) -> Sheet:
    """Each evaluator with the labels, then with the others; with the labels alone where there are more than `most`."""
    found = sorted(scope.of_group(scope.at.agreement.pairs), key=lambda one: one.other is not None)
    if most is not None and len(found) > most:
        found = [one for one in found if one.other is None]
    return sheet_of(
        scope.weighted("Claims that both call so, of those that either does: IoU, %"),
        (
            (name("Evaluators"), lambda one: f"{one.evaluator} and {one.other or 'the labels'}"),
            (share_column("Called wrong"), lambda one: estimate_cell(one.unattributable, "claim")),
            (share_column("Called right"), lambda one: estimate_cell(one.attributable, "claim")),
            (count_column("Left out"), lambda one: one.n_left_out),
        ),
        found,
        of=lambda one: (one.evaluator, *([one.other] if one.other is not None else [])),
    )


def by_group(at: AuditAt) -> Sheet:
    """The leading figures on each data set and task group, at claim level; nothing where there are very many."""
    groups = list(dict.fromkeys(one.group for one in at.rates.rates if one.group.kind != "all"))
    names = list(dict.fromkeys(one.evaluator for one in at.rates.rates))
    if len(groups) * len(names) > MOST_LINES:
        groups = []
    leading: tuple[tuple[str, Callable[[Group, str], Cell | str | int]], ...] = (
        ("Balanced accuracy", lambda group, one: value_alone(at.rates.find(one, group).balanced_accuracy)),
        ("TPR − TNR", lambda group, one: value_alone(at.rates.find(one, group).gap)),
        ("Mean, points off", lambda group, one: value_alone(at.quantification.find(one, group).mean_absolute)),
        ("% of pairs ordered wrongly", lambda group, one: _wrong(_ranked(at, group, one))),
        ("Kendall's tau", lambda group, one: _tau(_ranked(at, group, one))),
    )
    columns: tuple[ColumnOf[tuple[Group, str]], ...] = (
        (name("Evaluator"), lambda row: row[1]),
        (Column("Of", is_name=True, is_heading=True), lambda row: title_of(row[0])),
        *((share_column(head, 11), _of_both(say)) for head, say in leading),
    )
    return sheet_of("Claims, by data set", columns, [(group, one) for group in groups for one in names])


def _of_both(say: Callable[[Group, str], Cell | str | int]) -> Callable[[tuple[Group, str]], Cell | str | int]:
    return lambda row: say(*row)


def _ranked(at: AuditAt, group: Group, evaluator: str) -> Ranked:
    found: Iterator[Ranked] = chain(
        Scope(at, group).of_dataset(at.rankings), Scope(at, group).of_group(at.mean_rankings)
    )
    return next(one for one in found if (one.level, one.evaluator) == (Level.CLAIM, evaluator))
