"""Compares two sides (runs or variants) on one quantity over the same items.

Items are responses or claims. A cluster holds similar items (those of one prompt or group). Clusters are the units of
resampling and of sign flips. The p-value comes from flipping the signs of the clusters' contributions to the
difference. These signs are random if the sides do not differ (Fisher 1935's paired randomisation test). The interval
contains the differences that this test does not reject.

With m differences, each interval has level 1 - alpha / m, so that all of them hold jointly (Bonferroni's inequality).
Holm's method also rejects any p-value of at most alpha / m, so an interval never excludes 0 for a difference that is
not shown. If Holm's method shows a difference with a higher p-value, the interval ends at 0, as in the compatible
regions of Guilbaud (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.statistics.discrete_tests import DiscreteTest
from factloop.evaluation.statistics.sign_flip_intervals import sign_flip_interval
from factloop.evaluation.statistics.significance import least_p, turned_signs
from factloop.evaluation.statistics.stratified_means import StratifiedMean, stratified_mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POWER = 0.8
"""The probability of showing a difference of the reported detectable size."""
EQUAL = 1e-12
"""Smaller differences are rounding errors."""


@dataclass(frozen=True)
class Items:
    cluster: Ints
    n_clusters: int
    stratum: Ints
    """Shape (n_items,). Means are averaged over strata, as in balanced accuracy."""
    n_strata: int

    @classmethod
    def of_clusters(cls, cluster: Ints, n_clusters: int) -> Items:
        """Puts all items in one stratum, which makes stratified means ordinary means."""
        return cls(cluster, n_clusters, np.zeros(len(cluster), np.int64), 1)

    def mean(self, values: Floats) -> StratifiedMean:
        """Returns the mean over the items that have a value. The others must be NaN."""
        return stratified_mean(values, self.stratum, self.n_strata, self.cluster, self.n_clusters)


@dataclass(frozen=True)
class PairedMeans:
    first: StratifiedMean
    second: StratifiedMean
    apart: StratifiedMean
    """The second mean minus the first."""
    first_higher: int
    equal: int
    second_higher: int
    """How many items are higher on the first side, equal up to rounding, or higher on the second side."""


def sign_flip_test(ways: Sequence[StratifiedMean]) -> DiscreteTest | None:
    """Returns a two-sided test that the difference is zero, or None if the first way of counting leaves it undefined.

    The p-value is the largest over all ways of counting the items, or 1 if they disagree about the sign. It does not
    depend on a seed.
    """
    if not ways or ways[0].value is None:
        return None
    values = [one.value or 0.0 for one in ways]
    p = 1.0 if min(values) < 0.0 < max(values) else max(turned_signs(one.parts) for one in ways)
    return DiscreteTest(p, min(p, max(least_p(one.parts) for one in ways)))


def simultaneous_interval(
    apart: StratifiedMean, p_adjusted: float | None, level: float, n_intervals: int, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Returns one of several intervals that jointly contain the true differences at `level`.

    The interval contains 0 if and only if the adjusted test does not reject. Random signs, the normal approximation or
    a stepwise adjustment can put one end on the wrong side of 0. That end is then moved to 0. Returns None if there is
    no test, nothing varies, or nothing can be ruled out.
    """
    if p_adjusted is None:
        return None
    found = sign_flip_interval(apart, level_of_each(level, n_intervals), rng)
    if found is None:
        return None
    low, high = found
    if p_adjusted > 1.0 - level + EQUAL:
        return min(low, 0.0), max(high, 0.0)
    value = apart.value or 0.0
    return (max(low, 0.0), high) if value > 0.0 else (low, min(high, 0.0))


def level_of_each(level: float, n_intervals: int) -> float:
    """Returns the level that each interval needs for all of them to hold jointly at `level` (Bonferroni)."""
    return 1.0 - (1.0 - level) / n_intervals


def paired_means(first: Floats, second: Floats, items: Items) -> PairedMeans:
    """Returns the means over the items that are not NaN on either side. Both arrays have shape (n_items,)."""
    apart = second - first
    missing = np.isnan(apart)
    one, other = (np.where(missing, np.nan, side) for side in (first, second))
    return PairedMeans(
        first=items.mean(one),
        second=items.mean(other),
        apart=items.mean(apart),
        first_higher=int((apart < -EQUAL).sum()),
        equal=int((np.abs(apart) <= EQUAL).sum()),
        second_higher=int((apart > EQUAL).sum()),
    )
