"""TPR and FPR of the evaluator on the labelled claims, with intervals that know that claims of one group are alike.

Wilson's interval (1927) for as many claims as would have the variance of the rate (Korn and Graubard 1998 have it so),
by Student's t for the groups. Where the rate is 0 or 1 there is no variance, and as many count as there are groups.
"""

from __future__ import annotations

import numpy as np

from factloop.evaluation.debiasing import influence
from factloop.evaluation.debiasing.estimates import wilson
from factloop.evaluation.debiasing.records import EvaluatorRates
from factloop.evaluation.debiasing.samples import Floats, Samples

Interval = tuple[float | None, float | None]


def evaluator_rates(samples: Samples, level: float) -> EvaluatorRates:
    """The rates, by the weights of the labelled claims."""
    n_right, n_wrong = int((samples.label == 1).sum()), int((samples.label == 0).sum())
    tpr, (tpr_low, tpr_high) = _rate(samples, samples.label, level) if n_right else (None, (None, None))
    fpr, (fpr_low, fpr_high) = _rate(samples, 1.0 - samples.label, level) if n_wrong else (None, (None, None))
    return EvaluatorRates(
        tpr=tpr,
        tpr_low=tpr_low,
        tpr_high=tpr_high,
        fpr=fpr,
        fpr_low=fpr_low,
        fpr_high=fpr_high,
        level=level,
        n_supported=n_right,
        n_not_supported=n_wrong,
        n_unscored=samples.n_unscored_labels,
    )


def _rate(samples: Samples, among: Floats, level: float) -> tuple[float, Interval]:
    rate = min(1.0, samples.labelled_mean(samples.verdict, among))
    n_groups = len(np.unique(samples.label_group[among > 0]))
    if n_groups < 2:
        return rate, (None, None)
    moves = influence.labelled_influence(samples.verdict, samples, among)
    variance = influence.covariance(moves, moves)
    n = rate * (1.0 - rate) / variance if variance > influence.ROUNDING else float(n_groups)
    low, high = wilson(rate, n, influence.quantile(n_groups, level))
    return rate, (max(0.0, low), min(1.0, high))
