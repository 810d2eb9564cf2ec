"""Compares two sides in one quantity over the same items, whether the sides are runs or variants.

Items are responses or claims. Clusters of them, prompts or groups, are what is drawn and what is turned: items of one
resemble each other, and an easy one is easy for both sides. So p-values turn the sign of what each cluster adds to the
difference, which, if the sides do not differ, is a matter of chance (Fisher 1935's paired randomisation test), and
intervals hold the differences that this test does not reject.

Of several differences the intervals are simultaneous by Bonferroni's inequality: with m of them each is at the level
1 - alpha / m, whatever the data show. Where the p-value is at most alpha / m, Holm's method rejects, too: no such
interval leaves 0 out beside a difference that is not shown. Holm's method rejects more. There the interval ends at 0,
as in the regions that go with it (Guilbaud 2008).
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
"""The chance of showing a difference of the size that a report names."""
EQUAL = 1e-12
"""A difference below this is rounding."""


@dataclass(frozen=True)
class Items:
    """The cluster and the stratum of each item of a comparison."""

    cluster: Ints
    """(n_items,)"""
    n_clusters: int
    stratum: Ints
    """(n_items,): a mean is the mean of the strata's means, as in balanced accuracy."""
    n_strata: int

    @classmethod
    def of_clusters(cls, cluster: Ints, n_clusters: int) -> Items:
        """A single stratum: means are plain."""
        return cls(cluster, n_clusters, np.zeros(len(cluster), np.int64), 1)

    def mean(self, values: Floats) -> StratifiedMean:
        """The mean over the items that have a value; NaN if no item has one."""
        return stratified_mean(values, self.stratum, self.n_strata, self.cluster, self.n_clusters)


@dataclass(frozen=True)
class PairedMeans:
    """The means of both sides over the items in which both have a value, and how far they are apart."""

    first: StratifiedMean
    second: StratifiedMean
    apart: StratifiedMean
    """The difference: second minus first."""
    first_higher: int
    equal: int
    second_higher: int
    """Numbers of items; rounding differences count as equal."""


def sign_flip_test(ways: Sequence[StratifiedMean]) -> DiscreteTest | None:
    """The two-sided test of a difference that must have the same sign however its items are counted.

    The p-value is the largest of all ways, and 1 if two signs differ. Independent of the seed; None if the first
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

    It contains 0 if and only if the adjusted test does not reject: an end that drawn signs, the normal approximation
    or a stepwise adjustment leave on the wrong side of 0 is moved to 0. None without a test, if nothing varies, or if
    nothing can be ruled out.
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
    """`first` and `second` are (n_items,), NaN where a side has no value."""
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
