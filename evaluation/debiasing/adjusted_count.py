"""Corrects the fraction of supported verdicts with the adjusted count (Rogan and Gladen 1978).

The result is `(rate - FPR) / (TPR - FPR)`, with TPR and FPR from the labelled claims. It is valid if both rates are the
same for the labelled claims as for the run, even if the two have different fractions of supported claims. Godbole and
Jia ("Verify with Caution", section 5) show how much the rates can differ if the labels come from another system.

The interval is Fieller's (1954) for a ratio. It contains every v such that `(rate - FPR) - v * (TPR - FPR)` does not
differ significantly from 0. The variance of a rate of 0 or 1 includes half an error, because a few claims without
errors do not prove that there are none. The result is undefined unless TPR - FPR is significantly above 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factloop.core.figure import Undefined
from factloop.evaluation.debiasing.estimates import (
    NO_VARIANCE,
    covariance,
    labelled_influence,
    run_rate_influence,
    smallest_sample,
    t_quantile,
    undefined,
    unseen_variance_of_rate,
    with_interval,
)
from factloop.evaluation.debiasing.records import Estimate, Method
from factloop.evaluation.debiasing.samples import Floats, Samples

METHOD = Method.ADJUSTED_COUNT


@dataclass(frozen=True)
class _Ratio:
    top: float
    bottom: float
    top_variance: float
    bottom_variance: float
    covariance: float
    moves: Floats
    """(n_groups,): the influence of each group on the result, before division by the denominator."""

    def has_signal(self, quantile: float) -> bool:
        return self.bottom > quantile * math.sqrt(self.bottom_variance)

    def interval(self, quantile: float) -> tuple[float, float]:
        """Returns Fieller's interval, which is unbounded if the denominator does not differ significantly from 0."""
        square = quantile**2
        a = self.bottom**2 - square * self.bottom_variance
        b = self.top * self.bottom - square * self.covariance
        c = self.top**2 - square * self.top_variance
        if a <= 0.0:
            return -math.inf, math.inf
        root = math.sqrt(max(b * b - a * c, 0.0))
        return (b - root) / a, (b + root) / a


def precision(samples: Samples, level: float) -> Estimate:
    """Returns the fraction of supported claims in [0, 1]. It is undefined if one of the labels does not occur."""
    why = _why_undefined(samples)
    if why is not None:
        return undefined(METHOD, why, samples, level)
    ratio = _ratio(samples)
    if not ratio.has_signal(t_quantile(max(samples.n_label_groups, 2), level)):
        return undefined(METHOD, Undefined.NO_SIGNAL, samples, level)
    groups = smallest_sample(METHOD, samples)
    moves = ratio.moves if samples.is_evenly_drawn else None
    interval = ratio.interval(t_quantile(groups, level, moves)) if groups > 1 else None
    return with_interval(METHOD, ratio.top / ratio.bottom, interval, samples, level)


def _why_undefined(samples: Samples) -> Undefined | None:
    if not samples.scored.sum():
        return Undefined.NOTHING_SCORED
    if not len(samples.label):
        return Undefined.NO_LABELS
    return Undefined.CLASS_MISSING if np.ptp(samples.label) == 0.0 else None


def _ratio(samples: Samples) -> _Ratio:
    right, wrong = samples.label, 1.0 - samples.label
    tpr, fpr = samples.labelled_mean(samples.verdict, right), samples.labelled_mean(samples.verdict, wrong)
    tpr_moves = labelled_influence(samples.verdict, samples, right)
    fpr_moves = labelled_influence(samples.verdict, samples, wrong)
    top, bottom = run_rate_influence(samples) - fpr_moves, tpr_moves - fpr_moves
    of_tpr, of_fpr = _unseen(samples, tpr_moves, right), _unseen(samples, fpr_moves, wrong)
    over, under = float(samples.supported.sum() / samples.scored.sum()) - fpr, tpr - fpr
    return _Ratio(
        top=over,
        bottom=under,
        top_variance=covariance(top, top) + of_fpr,
        bottom_variance=covariance(bottom, bottom) + of_tpr + of_fpr,
        covariance=covariance(top, bottom) + of_fpr,
        moves=under * top - over * bottom,
    )


def _unseen(samples: Samples, moves: Floats, among: Floats) -> float:
    """Returns the variance to add for a rate that does not vary, because all its claims have the same verdict."""
    seen = covariance(moves, moves)
    return unseen_variance_of_rate(samples, among) if seen <= NO_VARIANCE else 0.0
