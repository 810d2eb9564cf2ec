"""Compares two sides (runs or variants) in one quantity over the same items.

Items are responses or claims. They come in clusters (prompts or groups), which are the units of resampling and of sign
flips, because items in a cluster are similar and an easy one is easy for both sides. A p-value is calculated by
flipping the signs of the clusters' contributions to the difference, which are a matter of chance if the sides do not
differ (Fisher 1935's paired randomisation test). An interval contains the differences that this test does not reject.

The intervals of several differences are simultaneous by Bonferroni's inequality: with m differences, each interval has
the level 1 - alpha / m, whatever the data show. If the p-value is at most alpha / m, Holm's method rejects as well, so
no such interval excludes 0 for a difference that is not shown. Holm's method also rejects in other cases. The interval
then ends at 0, as in the compatible regions of Guilbaud (2008).
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
"""The probability with which a difference of the reported detectable size would be shown."""
EQUAL = 1e-12
"""Smaller differences are attributed to rounding."""


@dataclass(frozen=True)
class Items:
    """The cluster and the stratum of each item of a comparison."""

    cluster: Ints
    """(n_items,)"""
    n_clusters: int
    stratum: Ints
    """(n_items,): the stratum of each item. Means are averaged over strata, as in balanced accuracy."""
    n_strata: int

    @classmethod
    def of_clusters(cls, cluster: Ints, n_clusters: int) -> Items:
        """Puts all items in a single stratum, so that means are plain means."""
        return cls(cluster, n_clusters, np.zeros(len(cluster), np.int64), 1)

    def mean(self, values: Floats) -> StratifiedMean:
        """The mean over the items that have a value (`values` is NaN for the others)."""
        return stratified_mean(values, self.stratum, self.n_strata, self.cluster, self.n_clusters)


@dataclass(frozen=True)
class PairedMeans:
    """The means of both sides over the items for which both have a value, and their difference."""

    first: StratifiedMean
    second: StratifiedMean
    apart: StratifiedMean
    """The difference: second minus first."""
    first_higher: int
    equal: int
    second_higher: int
    """Numbers of items, by the side that is higher. Differences due to rounding count as equal."""


def sign_flip_test(ways: Sequence[StratifiedMean]) -> DiscreteTest | None:
    """A two-sided test of a difference that must have the same sign in every way of counting the items.

    The p-value is the largest over all ways, and 1 if two signs differ. It does not depend on a seed. None if the first
    way has no difference.
    """
    if not ways or ways[0].value is None:
        return None
    values = [one.value or 0.0 for one in ways]
    p = 1.0 if min(values) < 0.0 < max(values) else max(turned_signs(one.parts) for one in ways)
    return DiscreteTest(p, min(p, max(least_p(one.parts) for one in ways)))


def simultaneous_interval(
    apart: StratifiedMean, p_adjusted: float | None, level: float, n_intervals: int, rng: np.random.Generator
) -> tuple[float, float] | None:
    """One of several intervals that together contain the true differences at `level`.

    It contains 0 if and only if the adjusted test does not reject. An end that is on the wrong side of 0, because of
    random signs, the normal approximation or a stepwise adjustment, is moved to 0. None without a test, if nothing
    varies, or if nothing can be ruled out.
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
    """The level of each of several intervals that together have `level`, by Bonferroni's inequality."""
    return 1.0 - (1.0 - level) / n_intervals


def paired_means(first: Floats, second: Floats, items: Items) -> PairedMeans:
    """The paired means of `first` and `second`, which have shape (n_items,) and are NaN where a side has no value."""
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
