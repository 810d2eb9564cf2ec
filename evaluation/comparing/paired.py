"""The paired comparison of two sides in one quantity over the same items, for two runs as for two variants.

Items are responses or claims. Clusters of them, prompts or groups, are what is drawn and what is turned: items of one
resemble each other, and an easy one is easy for both sides. So intervals are percentile bootstraps over whole clusters
(`stratified_intervals` of `apart`), and p-values turn the sign of what each cluster adds to the difference, which, if
the sides do not differ, is a matter of chance (Fisher 1935's paired randomisation test).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.statistics.significance import turned_signs
from factloop.evaluation.statistics.stratified_means import StratifiedMean, stratified_mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EQUAL = 1e-12
"""A difference below this is rounding."""


@dataclass(frozen=True)
class Items:
    """The cluster and the stratum of each item of a comparison."""

    cluster: Ints
    """(n_items,)"""
    n_clusters: int
    stratum: Ints
    """(n_items,): a mean is that of the strata's means, as balanced accuracy is of both labels."""
    n_strata: int

    @classmethod
    def of_clusters(cls, cluster: Ints, n_clusters: int) -> Items:
        """A single stratum: means are plain."""
        return cls(cluster, n_clusters, np.zeros(len(cluster), np.int64), 1)

    def mean(self, values: Floats) -> StratifiedMean:
        """The mean over the items that have a value; NaN where no item has one."""
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
    """Numbers of items. What differs by rounding alone is equal."""

    def p_value(self, rng: np.random.Generator) -> float | None:
        """Two-sided; None where there is no difference. Signs are drawn where there are too many to try them all."""
        return None if self.apart.value is None else turned_signs(self.apart.parts, rng)


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
