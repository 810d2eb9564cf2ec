"""Can an evaluator's error rates be mended by what it does on one labelled system? (Godbole & Jia, section 5, A.7.)

Each system of a data set serves once for calibration, and the error rates of all others are estimated: unadjusted, by
adjusted counts, and with a threshold tuned on the calibration system. Bias is estimated minus labelled error rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from factloop.evaluation.audit.adjustment_records import (
    FEWEST,
    Adjustment,
    AdjustmentMethod,
    AdjustmentReport,
    Calibration,
    CalibrationWarning,
    HeldOut,
    MeanAdjustment,
    MethodAverage,
    MethodMean,
    WhyUnadjusted,
)
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.sorted_scores import SortedScores, balanced_threshold, unbiased_threshold
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable
from factloop.evaluation.audit.units import rows_of, scores_of

STANDARD_ERRORS = 2.0
"""By so many the rates of flagged claims among errors and among others must differ to count as different."""


def adjust(table: PredictionTable, evaluator: str, dataset: str, *, threshold: float = THRESHOLD) -> AdjustmentReport:
    """Every method calibrated on every system of the data set and tested on the others, at claim level.

    Claims without a score are left out and counted. With fewer than two systems there is no calibration to test.
    """
    systems, n_left_out = _systems(table, evaluator, dataset)
    has_scores = any(one.is_graded for one in systems.values())
    calibrations = [_calibrate(name, systems, threshold, has_scores) for name in systems] if len(systems) > 1 else []
    return AdjustmentReport(
        dataset=dataset,
        evaluator=evaluator,
        threshold=threshold,
        calibrations=tuple(sorted(calibrations, key=lambda one: (one.labelled, one.system))),
        methods=tuple(_mean(method, calibrations) for method in AdjustmentMethod),
        n_left_out=n_left_out,
    )


def mean_adjustment(group: Group, reports: Sequence[AdjustmentReport]) -> MeanAdjustment:
    """Means over data sets of each method's. Raises ValueError without reports or with those of several evaluators."""
    if len({report.evaluator for report in reports}) != 1:
        raise ValueError("a mean is taken over reports on one evaluator")
    by_method = zip(*(report.methods for report in reports), strict=True)
    return MeanAdjustment(
        group=group, evaluator=reports[0].evaluator, methods=tuple(_average(methods) for methods in by_method)
    )


def adjusted_rate(flagged: float, true_rate: float, false_rate: float) -> float:
    """Adjusted counts (Forman 2006): (p - FPR) / (TPR - FPR), cut off at 0 and 1; errors are the positive class.

    `flagged` is the share of claims predicted to be errors, `true_rate` that share among errors and `false_rate` among
    the others. The paper's formula is not in its text; its worst biases (86.5 and 80.5 points, Table 31) are those of
    an estimate of 100 %, so it cuts off, too. Raises ValueError where the two rates are equal.
    """
    if true_rate == false_rate:
        raise ValueError("equal rates say nothing about the share of errors")
    return min(1.0, max(0.0, (flagged - false_rate) / (true_rate - false_rate)))


def _systems(table: PredictionTable, evaluator: str, dataset: str) -> tuple[dict[str, SortedScores], int]:
    scores, rows = scores_of(table, evaluator), rows_of(table, dataset)
    scored = rows & ~np.isnan(scores)
    codes, values, is_error = table.system.codes[scored], scores[scored], table.label[scored] == 0
    systems = {}
    for code in np.unique(codes).tolist():
        of_system = codes == code
        systems[table.system.names[code]] = SortedScores.of(values[of_system], is_error[of_system])
    return systems, int(rows.sum() - scored.sum())


def _calibrate(name: str, systems: dict[str, SortedScores], threshold: float, has_scores: bool) -> Calibration:
    own = systems[name]
    true_rate = own.flagged_errors(threshold) / own.n_errors if own.n_errors else None
    false_rate = own.flagged_others(threshold) / own.n_others if own.n_others else None
    others = {other: scores for other, scores in systems.items() if other != name}
    return Calibration(
        system=name,
        n_errors=own.n_errors,
        n_attributable=own.n_others,
        labelled=own.n_errors / own.n,
        true_rate=true_rate,
        false_rate=false_rate,
        warnings=_warnings(own, threshold),
        adjustments=(
            _tuned(AdjustmentMethod.UNADJUSTED, threshold, others),
            _adjusted_counts(true_rate, false_rate, threshold, others),
            _tuned(AdjustmentMethod.ZERO_BIAS, unbiased_threshold(own) if has_scores else None, others),
            _balanced(own, has_scores, others),
        ),
    )


def _warnings(own: SortedScores, threshold: float) -> tuple[CalibrationWarning, ...]:
    found = []
    if own.n_errors < FEWEST:
        found.append(CalibrationWarning.FEW_ERRORS)
    if own.n_others < FEWEST:
        found.append(CalibrationWarning.FEW_ATTRIBUTABLE)
    # one more of each kind keeps the standard error of a rate of 0 or 1 above 0 (Agresti & Caffo 2000)
    counts = ((own.flagged_errors(threshold), own.n_errors), (own.flagged_others(threshold), own.n_others))
    (one, n_one), (other, n_other) = (((flagged + 1) / (n + 2), n + 2) for flagged, n in counts)
    spread = np.sqrt(one * (1 - one) / n_one + other * (1 - other) / n_other)
    if one - other < STANDARD_ERRORS * spread:
        found.append(CalibrationWarning.NOT_TOLD_APART)
    return tuple(found)


def _tuned(method: AdjustmentMethod, threshold: float | None, others: dict[str, SortedScores]) -> Adjustment:
    if threshold is None:
        return Adjustment(method=method, undefined=WhyUnadjusted.LABELS_ONLY)
    return _tested(method, others, [one.flagged(threshold) / one.n for one in others.values()], threshold=threshold)


def _balanced(own: SortedScores, has_scores: bool, others: dict[str, SortedScores]) -> Adjustment:
    method = AdjustmentMethod.BALANCED_ACCURACY
    why = WhyUnadjusted.LABELS_ONLY if not has_scores else _lacking(own.n_errors, own.n_others)
    if why is not None:
        return Adjustment(method=method, undefined=why)
    return _tuned(method, balanced_threshold(own), others)


def _lacking(n_errors: int, n_others: int) -> WhyUnadjusted | None:
    if not n_errors:
        return WhyUnadjusted.NO_ERRORS
    return None if n_others else WhyUnadjusted.NO_ATTRIBUTABLE


def _adjusted_counts(
    true_rate: float | None, false_rate: float | None, threshold: float, others: dict[str, SortedScores]
) -> Adjustment:
    method = AdjustmentMethod.ADJUSTED_COUNTS
    if true_rate is None:
        return Adjustment(method=method, undefined=WhyUnadjusted.NO_ERRORS)
    if false_rate is None:
        return Adjustment(method=method, undefined=WhyUnadjusted.NO_ATTRIBUTABLE)
    if true_rate == false_rate:
        return Adjustment(method=method, undefined=WhyUnadjusted.EQUAL_RATES)
    flagged = [one.flagged(threshold) / one.n for one in others.values()]
    estimated = [adjusted_rate(share, true_rate, false_rate) for share in flagged]
    inside = sorted((true_rate, false_rate))
    n_cut = sum(not inside[0] <= share <= inside[1] for share in flagged)
    return _tested(method, others, estimated, threshold=threshold, n_cut=n_cut)


def _tested(
    method: AdjustmentMethod,
    others: dict[str, SortedScores],
    estimated: Sequence[float],
    *,
    threshold: float,
    n_cut: int = 0,
) -> Adjustment:
    held_out = tuple(
        HeldOut(system=name, n=one.n, labelled=one.n_errors / one.n, estimated=rate, bias=rate - one.n_errors / one.n)
        for (name, one), rate in zip(others.items(), estimated, strict=True)
    )
    sizes = [abs(one.bias) for one in held_out]
    return Adjustment(
        method=method,
        threshold=threshold,
        held_out=held_out,
        n_cut=n_cut,
        mean_bias=fmean(sizes),
        worst_bias=max(sizes),
    )


def _mean(method: AdjustmentMethod, calibrations: Sequence[Calibration]) -> MethodMean:
    pairs = [(one.by(method), one.by(AdjustmentMethod.UNADJUSTED)) for one in calibrations]
    used = [(found, plain) for found, plain in pairs if found.undefined is None]
    columns = [
        [value for value in (one.mean_bias for one, _ in used) if value is not None],
        [value for value in (one.worst_bias for one, _ in used) if value is not None],
        [value for value in (plain.mean_bias for _, plain in used) if value is not None],
        [value for value in (plain.worst_bias for _, plain in used) if value is not None],
    ]
    mean, worst, plain_mean, plain_worst = (fmean(column) if column else None for column in columns)
    return MethodMean(
        method=method,
        mean_bias=mean,
        worst_bias=worst,
        unadjusted_mean_bias=plain_mean,
        unadjusted_worst_bias=plain_worst,
        n_calibrations=len(used),
        n_undefined=len(pairs) - len(used),
    )


def _average(of_datasets: Sequence[MethodMean]) -> MethodAverage:
    used = [one for one in of_datasets if one.n_calibrations]
    columns = ("mean_bias", "worst_bias", "unadjusted_mean_bias", "unadjusted_worst_bias")
    means = {column: fmean(getattr(one, column) for one in used) if used else None for column in columns}
    return MethodAverage(
        method=of_datasets[0].method,
        **means,
        n_datasets=len(used),
        n_datasets_undefined=len(of_datasets) - len(used),
        n_calibrations=sum(one.n_calibrations for one in used),
    )
