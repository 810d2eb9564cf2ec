"""Can an evaluator's error rates be mended by what it does on one labelled system? (Godbole & Jia, section 5, A.7.)

Each system of a data set serves once for calibration, and the error rates of all others are estimated: unadjusted, by
adjusted counts, and with a threshold tuned on the calibration system. Bias is estimated minus labelled error rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.audit.adjustment_records import (
    FEWEST,
    Adjustment,
    AdjustmentMethod,
    AdjustmentReport,
    Calibration,
    CalibrationWarning,
    MeanAdjustment,
    MethodAverage,
    MethodMean,
    UnadjustedReason,
)
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.sorted_scores import SortedScores, balanced_threshold, unbiased_threshold
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable
from factloop.evaluation.audit.units import rows_of, scores_of

Floats = NDArray[np.float64]

STANDARD_ERRORS = 2.0
"""Standard errors by which the rates of flagged claims among errors and among others must differ to count as such."""


def adjust(table: PredictionTable, evaluator: str, dataset: str, *, threshold: float = THRESHOLD) -> AdjustmentReport:
    """Calibrates every method on every system of the data set, and tests it on the others, at claim level.

    Claims without a score are left out and counted. With fewer than two systems there is no calibration to test.
    """
    systems, n_left_out = _systems(table, evaluator, dataset)
    calibrations = _calibrations(systems, threshold) if len(systems) > 1 else []
    return AdjustmentReport(
        dataset=dataset,
        evaluator=evaluator,
        threshold=threshold,
        calibrations=tuple(sorted(calibrations, key=lambda one: (one.labelled, one.system))),
        methods=tuple(_mean(method, calibrations) for method in AdjustmentMethod),
        n_left_out=n_left_out,
    )


def mean_adjustment(group: Group, reports: Sequence[AdjustmentReport]) -> MeanAdjustment:
    """Each method's means over data sets. Raises ValueError without reports or with those of several evaluators."""
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
    scores, rows = scores_of(table, evaluator), rows_of(table, dataset) & table.is_of_known_system
    scored = rows & ~np.isnan(scores)
    codes, values, is_error = table.system.codes[scored], scores[scored], table.label[scored] == 0
    systems = {}
    for code in np.unique(codes).tolist():
        of_system = codes == code
        systems[table.system.names[code]] = SortedScores.of(values[of_system], is_error[of_system])
    return systems, int(rows.sum() - scored.sum())


@dataclass(frozen=True)
class _Trial:
    """One method calibrated on one system: its threshold, or why it gives nothing."""

    method: AdjustmentMethod
    threshold: float | None
    undefined: UnadjustedReason | None = None


def _calibrations(systems: Mapping[str, SortedScores], threshold: float) -> list[Calibration]:
    has_scores = any(one.is_graded for one in systems.values())
    trials = [_trials(own, threshold, has_scores) for own in systems.values()]
    thresholds = [trial.threshold for of_own in trials for trial in of_own if trial.threshold is not None]
    flagged = _flagged(systems, sorted({threshold, *thresholds}))
    labelled = {name: one.n_errors / one.n for name, one in systems.items()}
    return [
        _calibration(name, own, of_own, threshold, flagged, labelled)
        for (name, own), of_own in zip(systems.items(), trials, strict=True)
    ]


def _flagged(systems: Mapping[str, SortedScores], thresholds: Sequence[float]) -> dict[float, list[float]]:
    """The share of claims flagged in each system, for each threshold; all at once, as there are many."""
    shares = [np.searchsorted(one.scores, thresholds, side="left") / one.n for one in systems.values()]
    return dict(zip(thresholds, np.stack(shares, axis=1).tolist(), strict=True))


def _trials(own: SortedScores, threshold: float, has_scores: bool) -> tuple[_Trial, ...]:
    lacks = _lacking(own.n_errors, own.n_others)
    counts_lack = lacks or (
        UnadjustedReason.EQUAL_RATES if _true_rate(own, threshold) == _false_rate(own, threshold) else None
    )
    labels_only = None if has_scores else UnadjustedReason.LABELS_ONLY
    return (
        _Trial(AdjustmentMethod.UNADJUSTED, threshold),
        _Trial(AdjustmentMethod.ADJUSTED_COUNTS, threshold, counts_lack),
        _Trial(AdjustmentMethod.ZERO_BIAS, unbiased_threshold(own) if has_scores else None, labels_only),
        _Trial(
            AdjustmentMethod.BALANCED_ACCURACY,
            balanced_threshold(own) if has_scores and lacks is None else None,
            labels_only or lacks,
        ),
    )


def _lacking(n_errors: int, n_others: int) -> UnadjustedReason | None:
    if not n_errors:
        return UnadjustedReason.NO_ERRORS
    return None if n_others else UnadjustedReason.NO_ATTRIBUTABLE


def _true_rate(own: SortedScores, threshold: float) -> float | None:
    return own.flagged_errors(threshold) / own.n_errors if own.n_errors else None


def _false_rate(own: SortedScores, threshold: float) -> float | None:
    return own.flagged_others(threshold) / own.n_others if own.n_others else None


def _calibration(
    name: str,
    own: SortedScores,
    trials: Sequence[_Trial],
    threshold: float,
    flagged: Mapping[float, list[float]],
    labelled: Mapping[str, float],
) -> Calibration:
    true_rate, false_rate = _true_rate(own, threshold), _false_rate(own, threshold)

    def tested(trial: _Trial) -> Adjustment:
        if trial.undefined is not None or trial.threshold is None:
            return Adjustment(method=trial.method, undefined=trial.undefined)
        shares = dict(zip(labelled, flagged[trial.threshold], strict=True))
        del shares[name]
        n_cut = 0
        if trial.method is AdjustmentMethod.ADJUSTED_COUNTS and true_rate is not None and false_rate is not None:
            low, high = sorted((true_rate, false_rate))
            n_cut = sum(not low <= share <= high for share in shares.values())
            shares = {other: adjusted_rate(share, true_rate, false_rate) for other, share in shares.items()}
        sizes = [abs(share - labelled[other]) for other, share in shares.items()]
        return Adjustment(
            method=trial.method,
            threshold=trial.threshold,
            estimates=shares,
            n_cut=n_cut,
            mean_bias=fmean(sizes),
            worst_bias=max(sizes),
        )

    return Calibration(
        system=name,
        n_errors=own.n_errors,
        n_attributable=own.n_others,
        labelled=labelled[name],
        true_rate=true_rate,
        false_rate=false_rate,
        warnings=_warnings(own, threshold),
        adjustments=tuple(tested(trial) for trial in trials),
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
    largest, plain_largest = (max(column, default=None) for column in (columns[1], columns[3]))
    return MethodMean(
        method=method,
        mean_bias=mean,
        worst_bias=worst,
        largest_bias=largest,
        unadjusted_largest_bias=plain_largest,
        unadjusted_mean_bias=plain_mean,
        unadjusted_worst_bias=plain_worst,
        n_calibrations=len(used),
        n_undefined=len(pairs) - len(used),
    )


def _average(of_datasets: Sequence[MethodMean]) -> MethodAverage:
    used = [one for one in of_datasets if one.n_calibrations]
    columns = ("mean_bias", "worst_bias", "unadjusted_mean_bias", "unadjusted_worst_bias")
    means = {column: fmean(getattr(one, column) for one in used) if used else None for column in columns}
    largest = {
        column: max((getattr(one, column) for one in used), default=None)
        for column in ("largest_bias", "unadjusted_largest_bias")
    }
    return MethodAverage(
        method=of_datasets[0].method,
        **means,
        **largest,
        n_datasets=len(used),
        n_datasets_undefined=len(of_datasets) - len(used),
        n_calibrations=sum(one.n_calibrations for one in used),
    )
