"""The influence of each group of claims on an estimate: sums of these squared are variances that allow for groups."""

from __future__ import annotations

import numpy as np

from factloop.evaluation.debiasing.records import LEVEL
from factloop.evaluation.debiasing.samples import Floats, Ints, Samples

ROUNDING = 1e-28
"""What rounding leaves of a variance of 0, at most: as a divisor it would give any weight."""


def mean_influence(values: Floats, group: Ints, n_groups: int, weights: Floats | None = None) -> Floats:
    """(n_groups,): influence of each group on the weighted mean of the values.

    The sum of their squares is the variance of the mean, with the factor g / (g - 1) for the g groups that have weight:
    with groups of one it is the sample variance over n. The square of the sum over two samples is right for groups that
    are in both, too.
    """
    weights = np.ones_like(values) if weights is None else weights
    total = weights.sum()
    moves = np.bincount(group, weights * (values - (weights * values).sum() / total) / total, minlength=n_groups)
    g = len(np.unique(group[weights > 0]))
    return np.asarray(moves * np.sqrt(g / (g - 1)) if g > 1 else moves)


def run_rate_influence(samples: Samples) -> Floats:
    """Influence on the share of supported among the run's scored claims, which is a ratio of sums over responses."""
    rates = np.divide(samples.supported, samples.scored, out=np.zeros_like(samples.scored), where=samples.scored > 0)
    return mean_influence(rates, samples.run_group, samples.n_groups, samples.scored)


def labelled_influence(values: Floats, samples: Samples, among: Floats | None = None) -> Floats:
    """Influence on the weighted mean of a value of the labelled claims, over those where `among` is 1."""
    weights = samples.label_weight if among is None else samples.label_weight * among
    return mean_influence(values, samples.label_group, samples.n_groups, weights)


UNSEEN_ERRORS = 0.5
"""Errors that a variance counts beyond those seen."""


def unseen_variance(samples: Samples, open_share: Floats | float = 1.0) -> float:
    """What `UNSEEN_ERRORS` add to the variance of a weighted mean.

    A judge is wrong on few of the claims that it is sure of, and those are drawn rarely and count for much: a draw
    without such an error shows no spread, where another has most of it. So half an error more than was seen enters the
    variance, as Jeffreys' prior has it for a share (Brown, Cai and DasGupta 2001), with the weight of a claim of the
    verdict whose claims count for more. `open_share`: 1 - p of each claim where those of the run are all that is asked
    for.
    """
    weight = samples.label_weight
    squares, is_supported = open_share * weight**2, samples.verdict >= 0.5
    heaviest = max(float(squares[is_supported == kind].mean()) for kind in np.unique(is_supported))
    return UNSEEN_ERRORS * heaviest / float(weight.sum()) ** 2


def unseen_variance_of_rate(samples: Samples, among: Floats) -> float:
    """What `UNSEEN_ERRORS` are to the variance of a rate of 0 or 1, that of the labelled claims where `among` is 1.

    Without them such a rate from four claims would be taken for certain. Claims of one group count as one.
    """
    weights = np.bincount(samples.label_group, samples.label_weight * among, minlength=samples.n_groups)
    of_groups = weights[weights > 0]
    return float(UNSEEN_ERRORS * np.mean(of_groups**2) / of_groups.sum() ** 2)


def covariance(one: Floats, other: Floats) -> float:
    """The covariance of two estimates, from their influences."""
    return float(one @ other)


def quantile(n_groups: int, level: float = LEVEL) -> float:
    """Student's t with a degree of freedom less than there are groups, as the variance is estimated from them."""
    from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency

    return float(stats.t.ppf((1.0 + level) / 2.0, n_groups - 1))
