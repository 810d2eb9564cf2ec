"""What comes of mending error rates by one labelled system, as sheets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from factloop.evaluation.audit.adjustment_records import (
    Adjustment,
    AdjustmentMethod,
    AdjustmentReport,
    Calibration,
    MeanAdjustment,
    MethodAverage,
    MethodMean,
)
from factloop.evaluation.audit.views.scope import EVALUATOR, Scope, count_column, of_evaluator, percent, share_column
from factloop.evaluation.audit.views.words import CALIBRATION_WARNINGS, METHODS, WHY_UNADJUSTED
from factloop.reports.figures import plural
from factloop.reports.sheet.table import NOTHING, Cell, Column, ColumnOf, Sheet, name, sheet_of, value_cell


def adjustment(scope: Scope) -> Sheet:
    """A column for each method, over all choices of the system whose labels are used."""

    def method(place: int) -> Callable[[AdjustmentReport | MeanAdjustment], Cell]:
        return lambda one: _method_cell(one.methods[place], _n_trials(one))

    columns: tuple[ColumnOf[AdjustmentReport | MeanAdjustment], ...] = (
        EVALUATOR,
        *((share_column(METHODS[one].capitalize()), method(place)) for place, one in enumerate(AdjustmentMethod)),
        (count_column("Trials"), _n_trials),
    )
    of_dataset = scope.of_dataset(scope.at.adjustment)
    found: Sequence[AdjustmentReport | MeanAdjustment] = of_dataset or scope.of_group(scope.at.mean_adjustments)
    title = scope.unweighted("Mean points off when adjusted on one labelled system")
    return sheet_of(title, columns, found, of=of_evaluator)


def _n_trials(one: AdjustmentReport | MeanAdjustment) -> int:
    """Those without adjustment, which every choice of the calibration system gives."""
    return max(method.n_calibrations for method in one.methods)


def _method_cell(one: MethodMean | MethodAverage, n_trials: int) -> Cell:
    """The mean, the worst system with any calibration, and where there were fewer trials the bias without in these."""
    rests_on = plural(one.n_calibrations, "trial")
    if isinstance(one, MethodAverage):
        rests_on += f", {plural(one.n_datasets, 'data set')}"
    elif one.n_undefined:
        rests_on += f" ({one.n_undefined:,} undefined)"
    before, worst_before = one.unadjusted_mean_bias, one.unadjusted_largest_bias
    if one.method is not AdjustmentMethod.UNADJUSTED and before is not None and worst_before is not None:
        rests_on += f"; unadjusted {percent(before)}, worst {percent(worst_before)}"
    note = "" if one.largest_bias is None else f"worst {percent(one.largest_bias)}"
    if before is not None and one.n_calibrations < n_trials:
        note += f"; {plural(one.n_calibrations, 'trial')}, unadjusted {percent(before)}"
    return value_cell(one.mean_bias, percent, "with every system", note=note, basis=rests_on)


def calibrations(scope: Scope) -> Sheet:
    """Each choice of the system calibrated on, with its warnings."""

    def adjusted(method: AdjustmentMethod) -> Callable[[tuple[str, Calibration]], Cell]:
        return lambda row: _adjustment_cell(row[1].by(method))

    columns: tuple[ColumnOf[tuple[str, Calibration]], ...] = (
        (name("Evaluator"), lambda row: row[0]),
        (name("Calibrated on"), lambda row: row[1].system),
        (Column("Its errors, %"), lambda row: _errors(row[1])),
        *((Column(METHODS[method].capitalize()), adjusted(method)) for method in AdjustmentMethod),
        (name("Warnings"), lambda row: "; ".join(CALIBRATION_WARNINGS[one] for one in row[1].warnings) or "none"),
    )
    rows = [(one.evaluator, each) for one in scope.of_dataset(scope.at.adjustment) for each in one.calibrations]
    title = scope.unweighted("Mean points off, by the system calibrated on")
    return sheet_of(title, columns, rows, of=lambda row: row[:1])


def _errors(one: Calibration) -> Cell:
    return value_cell(one.labelled, percent, basis=f"{one.n_errors:,} of {one.n_errors + one.n_attributable:,}")


def _adjustment_cell(one: Adjustment) -> Cell:
    if one.undefined is not None or one.worst_bias is None:
        return Cell(NOTHING, why=WHY_UNADJUSTED[one.undefined] if one.undefined is not None else "")
    note = f"worst {percent(one.worst_bias)}" + (f", {one.n_cut:,} cut off" if one.n_cut else "")
    return value_cell(one.mean_bias, percent, note=note)
