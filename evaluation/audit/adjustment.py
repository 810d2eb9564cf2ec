"""Corrects an evaluator's estimates of error rates with one labelled system (Godbole & Jia, section 5, appendix A.7).

Each system in a data set is used once as the calibration system. The error rates of the others are then estimated
without adjustment, with adjusted counts, and with thresholds tuned on the calibration system. The bias of an estimate
is the estimated error rate minus the labelled one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.figures import Bools, Floats, Group, Ints
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable, rows_of, scores_of

FEWEST = 25
"""With fewer claims, the standard error of the flagged fraction can exceed 0.5 / sqrt(25) = 0.1. With fewer errors,
adjusted counts do more harm than good (Table 31)."""
STANDARD_ERRORS = 2.0
"""The flagged fractions of errors and of other claims must differ by at least this many standard errors."""


class AdjustmentMethod(StrEnum):
    UNADJUSTED = "unadjusted"
    ADJUSTED_COUNTS = "adjusted_counts"
    """Keeps the threshold and corrects the number of predicted errors (Forman 2006)."""
    ZERO_BIAS = "zero_bias"
    """The threshold at which the calibration system's predicted error rate is closest to its labelled one."""
    BALANCED_ACCURACY = "balanced_accuracy"
    """The threshold with the highest balanced accuracy on the calibration system."""


class UnadjustedReason(StrEnum):
    NO_ERRORS = "no_errors"
    """The calibration system has no claims labelled unattributable."""
    NO_ATTRIBUTABLE = "no_attributable"
    EQUAL_RATES = "equal_rates"
    """The evaluator flags errors exactly as often as other claims, so its predictions carry no information."""
    LABELS_ONLY = "labels_only"
    """All scores are 0 or 1, so there is no threshold to tune."""


class CalibrationWarning(StrEnum):
    FEW_ERRORS = "few_errors"
    """Fewer than `FEWEST` claims are labelled unattributable: the system is too good to calibrate on."""
    FEW_ATTRIBUTABLE = "few_attributable"
    NOT_TOLD_APART = "not_told_apart"
    """The flagged fractions of errors and of other claims differ by less than two standard errors."""


class Adjustment(Record):
    """The results of one method calibrated on one system, or the reason why there are none."""

    method: AdjustmentMethod
    undefined: UnadjustedReason | None = None
    threshold: float | None = None
    """Claims with at least this score count as attributable. It can be just above 1, so that all claims are flagged."""
    estimates: dict[str, Share] = Field(default_factory=dict)
    """The estimated error rate of each held-out system. The labelled rates are in `AdjustmentReport.calibrations`."""
    mean_bias: Share | None = None
    worst_bias: Share | None = None
    """The largest absolute difference between the estimated and the labelled error rate of a held-out system."""

    @model_validator(mode="after")
    def _is_tested_or_undefined(self) -> Self:
        if {self.undefined is None} != {self.mean_bias is not None, self.worst_bias is not None, bool(self.estimates)}:
            raise ValueError("an adjustment must contain either all test results or the reason why there are none")
        return self


class Calibration(Record):
    system: str
    n_errors: Count
    n_attributable: Count
    labelled: Share
    true_rate: Share | None
    """Fraction of the system's errors that are flagged (TNR in section 2.2; here, errors are the positive class)."""
    false_rate: Share | None
    """Fraction of the system's other claims that are flagged."""
    warnings: tuple[CalibrationWarning, ...]
    """The warnings concern adjusted counts and balanced accuracy, which depend on these rates."""
    adjustments: tuple[Adjustment, ...]

    def by(self, method: AdjustmentMethod) -> Adjustment:
        return next(found for found in self.adjustments if found.method is method)


class _Bias(Record):
    """All biases are None if the method gives no result."""

    method: AdjustmentMethod
    mean_bias: Share | None
    worst_bias: Share | None
    """The largest absolute bias. Like `mean_bias`, it is averaged over calibrations, then over data sets."""
    unadjusted_mean_bias: Share | None
    unadjusted_worst_bias: Share | None
    """Both biases without adjustment, over the same calibrations."""
    n_calibrations: Count


class MethodMean(_Bias):
    """One method's mean result over all calibration systems ("cross-validated" in the paper's Table 1)."""

    n_undefined: Count
    """Calibrations for which the method gives no result. The means exclude them."""


class MethodAverage(_Bias):
    """One method's mean result over data sets, which all have the same weight."""

    n_datasets: Count
    n_datasets_undefined: Count


class AdjustmentReport(Record):
    dataset: str
    evaluator: str
    threshold: float
    """The threshold used without adjustment and with adjusted counts."""
    calibrations: tuple[Calibration, ...]
    """Sorted by labelled error rate, lowest first. Empty if fewer than two systems have scored claims."""
    methods: tuple[MethodMean, ...]
    n_left_out: Count


class MeanAdjustment(Record):
    """Mean results over the data sets in a task group, or over all data sets."""

    group: Group
    evaluator: str
    methods: tuple[MethodAverage, ...]


@dataclass(frozen=True)
class SortedScores:
    """One system's scores in increasing order. Claims scored below a threshold are flagged as errors."""

    scores: Floats
    errors_below: Ints
    """Shape (n + 1,). Element i is the number of labelled errors among the i lowest scores."""

    @classmethod
    def of(cls, scores: Floats, is_error: Bools) -> SortedScores:
        order = np.argsort(scores, kind="stable")
        return cls(scores[order], np.concatenate([[0], np.cumsum(is_error[order])]).astype(np.int64))

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def n_errors(self) -> int:
        return int(self.errors_below[-1])

    @property
    def n_others(self) -> int:
        return self.n - self.n_errors

    @property
    def is_graded(self) -> bool:
        return bool(((self.scores > 0.0) & (self.scores < 1.0)).any())

    def flagged(self, threshold: float) -> tuple[int, int]:
        n = int(np.searchsorted(self.scores, threshold, side="left"))
        n_errors = int(self.errors_below[n])
        return n_errors, n - n_errors

    def rates(self, threshold: float) -> tuple[float | None, float | None]:
        """Returns the flagged fractions of errors and of other claims, each None if there are no such claims."""
        errors, others = self.flagged(threshold)
        return errors / self.n_errors if self.n_errors else None, others / self.n_others if self.n_others else None


def unbiased_threshold(system: SortedScores) -> float:
    """Returns the threshold that flags about as many claims as there are errors. Ties go to the one closest to 0.5."""
    thresholds, flagged = _candidates(system)
    return _best(thresholds, np.abs(flagged - system.n_errors))


def balanced_threshold(system: SortedScores) -> float:
    """Returns the threshold with the highest balanced accuracy. Ties go to the one closest to 0.5. The system must have
    both errors and other claims."""
    thresholds, flagged = _candidates(system)
    errors = system.errors_below[flagged]
    # errors / n_errors - others / n_others, in integers so that ties are exact
    return _best(thresholds, (flagged - errors) * system.n_errors - errors * system.n_others)


def _best(thresholds: Floats, cost: Ints) -> float:
    return float(thresholds[np.lexsort((thresholds, np.abs(thresholds - THRESHOLD), cost))[0]])


def _candidates(system: SortedScores) -> tuple[Floats, Ints]:
    """Returns a threshold for each way to split the scores, and the number of claims that each flags."""
    values, firsts = np.unique(system.scores, return_index=True)
    between = values[:-1] + (values[1:] - values[:-1]) / 2.0
    between = np.where(between > values[:-1], between, values[1:])  # there is no float between adjacent floats
    above = np.nextafter(1.0, 2.0) if values[-1] >= 1.0 else (values[-1] + 1.0) / 2.0
    last = above if above > values[-1] else 1.0
    return np.concatenate([[0.0], between, [last]]), np.append(firsts, system.n)


def adjusted_rate(flagged: float, true_rate: float, false_rate: float) -> float:
    """Returns the adjusted count (Forman 2006): (p - FPR) / (TPR - FPR), clipped to [0, 1]. Errors are the positive
    class.

    `flagged` (p) is the fraction of all claims predicted to be errors. Among errors alone, this fraction is `true_rate`
    (TPR), and among other claims it is `false_rate` (FPR). The paper does not state its formula, but it must clip as
    well, because its worst biases (86.5 and 80.5 points, Table 31) come from an estimate of 100%. Raises ValueError if
    both rates are equal.
    """
    if true_rate == false_rate:
        raise ValueError("cannot estimate the share of errors: both rates are equal")
    return min(1.0, max(0.0, (flagged - false_rate) / (true_rate - false_rate)))


def adjust(table: PredictionTable, evaluator: str, dataset: str, *, threshold: float = THRESHOLD) -> AdjustmentReport:
    """Calibrates every method on each system in turn, and tests it on the other systems in the data set. With fewer
    than two systems, there are no calibrations."""
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
    """Averages each method's results over data sets. Raises ValueError unless all reports are for one evaluator."""
    if len({report.evaluator for report in reports}) != 1:
        raise ValueError("averaging needs at least one report, all on the same evaluator")
    by_method = zip(*(report.methods for report in reports), strict=True)
    return MeanAdjustment(
        group=group, evaluator=reports[0].evaluator, methods=tuple(_average(methods) for methods in by_method)
    )


def _systems(table: PredictionTable, evaluator: str, dataset: str) -> tuple[dict[str, SortedScores], int]:
    scores, rows = scores_of(table, evaluator), rows_of(table, dataset) & table.is_of_known_system
    scored = rows & ~np.isnan(scores)
    codes, values, is_error = table.system.codes[scored], scores[scored], table.label[scored] == 0
    systems = {}
    for code in np.unique(codes).tolist():
        of_system = codes == code
        systems[table.system.names[code]] = SortedScores.of(values[of_system], is_error[of_system])
    return systems, int(rows.sum() - scored.sum())


Trials = dict[AdjustmentMethod, float | UnadjustedReason]
"""The threshold of each method on one calibration system, or the reason why it has none."""


def _calibrations(systems: Mapping[str, SortedScores], threshold: float) -> list[Calibration]:
    has_scores = any(one.is_graded for one in systems.values())
    return [_calibration(name, systems, threshold, has_scores) for name in systems]


def _trials(own: SortedScores, threshold: float, has_scores: bool) -> Trials:
    lacks = (
        None if own.n_errors and own.n_others
        else UnadjustedReason.NO_ATTRIBUTABLE if own.n_errors
        else UnadjustedReason.NO_ERRORS
    )  # fmt: skip
    true_rate, false_rate = own.rates(threshold)
    equal = UnadjustedReason.EQUAL_RATES if true_rate == false_rate else None
    labels_only = None if has_scores else UnadjustedReason.LABELS_ONLY
    return {
        AdjustmentMethod.UNADJUSTED: threshold,
        AdjustmentMethod.ADJUSTED_COUNTS: lacks or equal or threshold,
        AdjustmentMethod.ZERO_BIAS: labels_only or unbiased_threshold(own),
        AdjustmentMethod.BALANCED_ACCURACY: labels_only or lacks or balanced_threshold(own),
    }


def _calibration(name: str, systems: Mapping[str, SortedScores], threshold: float, has_scores: bool) -> Calibration:
    own = systems[name]
    true_rate, false_rate = own.rates(threshold)
    labelled = {other: one.n_errors / one.n for other, one in systems.items()}

    def tested(method: AdjustmentMethod, found: float | UnadjustedReason) -> Adjustment:
        if isinstance(found, UnadjustedReason):
            return Adjustment(method=method, undefined=found)
        shares = {other: sum(one.flagged(found)) / one.n for other, one in systems.items() if other != name}
        if method is AdjustmentMethod.ADJUSTED_COUNTS and true_rate is not None and false_rate is not None:
            shares = {other: adjusted_rate(share, true_rate, false_rate) for other, share in shares.items()}
        sizes = [abs(share - labelled[other]) for other, share in shares.items()]
        return Adjustment(
            method=method, threshold=found, estimates=shares, mean_bias=fmean(sizes), worst_bias=max(sizes)
        )

    return Calibration(
        system=name,
        n_errors=own.n_errors,
        n_attributable=own.n_others,
        labelled=labelled[name],
        true_rate=true_rate,
        false_rate=false_rate,
        warnings=_warnings(own, threshold),
        adjustments=tuple(tested(*trial) for trial in _trials(own, threshold, has_scores).items()),
    )


def _warnings(own: SortedScores, threshold: float) -> tuple[CalibrationWarning, ...]:
    # one extra claim of each kind keeps the standard error of a rate of 0 or 1 above 0 (Agresti & Caffo 2000)
    counts = zip(own.flagged(threshold), (own.n_errors, own.n_others), strict=True)
    (one, n_one), (other, n_other) = (((flagged + 1) / (n + 2), n + 2) for flagged, n in counts)
    spread = np.sqrt(one * (1 - one) / n_one + other * (1 - other) / n_other)
    found = {
        CalibrationWarning.FEW_ERRORS: own.n_errors < FEWEST,
        CalibrationWarning.FEW_ATTRIBUTABLE: own.n_others < FEWEST,
        CalibrationWarning.NOT_TOLD_APART: one - other < STANDARD_ERRORS * spread,
    }
    return tuple(warning for warning, is_due in found.items() if is_due)


def _mean(method: AdjustmentMethod, calibrations: Sequence[Calibration]) -> MethodMean:
    used = [one for one in calibrations if one.by(method).undefined is None]

    def mean(of: AdjustmentMethod, column: str) -> float | None:
        return fmean(getattr(one.by(of), column) for one in used) if used else None

    return MethodMean(
        method=method,
        mean_bias=mean(method, "mean_bias"),
        worst_bias=mean(method, "worst_bias"),
        unadjusted_mean_bias=mean(AdjustmentMethod.UNADJUSTED, "mean_bias"),
        unadjusted_worst_bias=mean(AdjustmentMethod.UNADJUSTED, "worst_bias"),
        n_calibrations=len(used),
        n_undefined=len(calibrations) - len(used),
    )


def _average(of_datasets: Sequence[MethodMean]) -> MethodAverage:
    used = [one for one in of_datasets if one.n_calibrations]
    means = ("mean_bias", "worst_bias", "unadjusted_mean_bias", "unadjusted_worst_bias")
    return MethodAverage(
        method=of_datasets[0].method,
        **{column: fmean(getattr(one, column) for one in used) if used else None for column in means},
        n_datasets=len(used),
        n_datasets_undefined=len(of_datasets) - len(used),
        n_calibrations=sum(one.n_calibrations for one in used),
    )
