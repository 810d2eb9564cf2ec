"""Records of adjusting an evaluator's error rates by one labelled system."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.estimate import Group

FEWEST = 25
"""Labelled claims of a kind, below which the share of them that is flagged has a standard error of up to 0.1 or more:
0.5 / sqrt(25). With fewer errors than this an adjustment by that share does more harm than good (Table 31)."""


class AdjustmentMethod(StrEnum):
    UNADJUSTED = "unadjusted"
    ADJUSTED_COUNTS = "adjusted_counts"
    """Takes predictions alone."""
    ZERO_BIAS = "zero_bias"
    """The threshold that gives the calibration system the error rate of its labels, or the nearest to it."""
    BALANCED_ACCURACY = "balanced_accuracy"
    """The threshold of the highest balanced accuracy on the calibration system."""


class UnadjustedReason(StrEnum):
    """The reason why a method gives nothing."""

    NO_ERRORS = "no_errors"
    """The calibration system has no claim labelled unattributable."""
    NO_ATTRIBUTABLE = "no_attributable"
    EQUAL_RATES = "equal_rates"
    """The evaluator flags errors no more often than other claims: its predictions say nothing."""
    LABELS_ONLY = "labels_only"
    """All scores are 0 or 1, so that there is no threshold to tune."""


class CalibrationWarning(StrEnum):
    """The reason why rates taken on a calibration system mean little."""

    FEW_ERRORS = "few_errors"
    """Fewer than `FEWEST` claims labelled unattributable: the system is too good to calibrate on."""
    FEW_ATTRIBUTABLE = "few_attributable"
    NOT_TOLD_APART = "not_told_apart"
    """Errors are not flagged more often than other claims by two standard errors of the difference."""


class Adjustment(Record):
    """One method, calibrated on one system and tested on the others; or why it gives nothing."""

    method: AdjustmentMethod
    undefined: UnadjustedReason | None = None
    threshold: float | None = None
    """At and above it a claim counts as attributable. Just above 1 where all are flagged."""
    estimates: dict[str, Share] = Field(default_factory=dict)
    """Estimated error rate of each system held out. The labelled ones are those of `AdjustmentReport.calibrations`."""
    n_cut: Count = 0
    """Estimates by adjusted counts that were outside [0, 1] and were cut off at 0 or 1."""
    mean_bias: Share | None = None
    worst_bias: Share | None = None
    """Magnitudes of estimated minus labelled error rate over the systems held out."""

    @model_validator(mode="after")
    def _is_tested_or_undefined(self) -> Self:
        if {self.undefined is None} != {self.mean_bias is not None, self.worst_bias is not None, bool(self.estimates)}:
            raise ValueError("an adjustment is either tested or has the reason why it is undefined")
        return self


class Calibration(Record):
    """All methods with one calibration system."""

    system: str
    n_errors: Count
    n_attributable: Count
    labelled: Share
    """Error rate."""
    true_rate: Share | None
    """Share of its errors that are flagged (TNR of section 2.2, as errors are the positive class here)."""
    false_rate: Share | None
    """Share of its other claims that are flagged."""
    warnings: tuple[CalibrationWarning, ...]
    """Concern adjusted counts first, and thresholds for the highest balanced accuracy: both rest on these rates."""
    adjustments: tuple[Adjustment, ...]
    """One for each method, in their order."""

    def by(self, method: AdjustmentMethod) -> Adjustment:
        return next(found for found in self.adjustments if found.method is method)


class MethodMean(Record):
    """One method over all choices of the calibration system: "cross-validated" in the paper's Table 1."""

    method: AdjustmentMethod
    mean_bias: Share | None
    worst_bias: Share | None
    """Means over calibrations of the mean and the worst magnitude; None where the method gives nothing at all."""
    largest_bias: Share | None = None
    """The largest magnitude with any calibration. Audits before version 2.4 have none; likewise the next."""
    unadjusted_largest_bias: Share | None = None
    unadjusted_mean_bias: Share | None
    unadjusted_worst_bias: Share | None
    """The same without adjustment, over the same calibrations."""
    n_calibrations: Count
    n_undefined: Count
    """Calibrations with which the method gives nothing; they are left out."""


class AdjustmentReport(Record):
    """One evaluator on one data set."""

    dataset: str
    evaluator: str
    threshold: float
    """The threshold of the predictions without adjustment, and with adjusted counts."""
    calibrations: tuple[Calibration, ...]
    """Calibrations by rising labelled error rate; empty where fewer than two systems have scored claims."""
    methods: tuple[MethodMean, ...]
    n_left_out: Count
    """Claims without a score."""


class MethodAverage(Record):
    """One method over several data sets: each counts the same, however many systems it has."""

    method: AdjustmentMethod
    mean_bias: Share | None
    worst_bias: Share | None
    """Means of those of the data sets; None where the method gives nothing on any."""
    largest_bias: Share | None = None
    """The largest magnitude on any data set. Audits before version 2.4 have none; likewise the next."""
    unadjusted_largest_bias: Share | None = None
    unadjusted_mean_bias: Share | None
    unadjusted_worst_bias: Share | None
    """The same without adjustment, over the same calibrations."""
    n_datasets: Count
    """Data sets on which the method gives something."""
    n_datasets_undefined: Count
    n_calibrations: Count


class MeanAdjustment(Record):
    """One evaluator on the data sets of a task group, or on all."""

    group: Group
    evaluator: str
    methods: tuple[MethodAverage, ...]
