"""Averages the means of several strata, with bootstrap intervals, standard errors and inputs for sign-flip tests.

If the strata are the two labels, the stratified mean of "the verdict equals the label" is balanced accuracy. With a
single stratum, it is the ordinary mean. The difference between two such means over the same items is the stratified
mean of the items' differences, so this module covers the intervals and tests of all paired quantities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.statistics.bootstrap import bootstrap, percentile_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class StratifiedMean:
    """The sum of values and the number of items in each stratum and cluster, with shape (n_strata, n_clusters)."""

    sums: Floats
    counts: Floats

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def n_clusters(self) -> int:
        return int(np.count_nonzero(self.counts.sum(axis=0)))

    @property
    def empty_strata(self) -> list[int]:
        return [int(stratum) for stratum in np.flatnonzero(self.counts.sum(axis=1) == 0)]

    @property
    def has_interval(self) -> bool:
        """Whether every stratum has items from at least two clusters."""
        return bool((np.count_nonzero(self.counts, axis=1) > 1).all())

    @property
    def value(self) -> float | None:
        """None if any stratum is empty."""
        return None if self.empty_strata else float((self.sums.sum(axis=1) / self.counts.sum(axis=1)).mean())

    @property
    def parts(self) -> Floats:
        """The contribution of each cluster to the value, with shape (n_clusters,). No stratum may be empty."""
        return np.asarray((self.sums / self.counts.sum(axis=1, keepdims=True)).mean(axis=0))

    @property
    def weights(self) -> Floats:
        """The change in each contribution if all values increase by 1, with shape (n_clusters,). The sum is 1."""
        return np.asarray((self.counts / self.counts.sum(axis=1, keepdims=True)).mean(axis=0))

    @property
    def standard_error(self) -> float | None:
        """The linearized standard error for independent clusters. None unless `has_interval` is True."""
        if not self.has_interval:
            return None
        totals = self.counts.sum(axis=1, keepdims=True)
        means = self.sums.sum(axis=1, keepdims=True) / totals
        apart = ((self.sums - means * self.counts) / totals).mean(axis=0)
        n = self.n_clusters
        return float(np.sqrt(n / (n - 1.0) * (apart**2).sum()))


def stratified_mean(values: Floats, stratum: Ints, n_strata: int, cluster: Ints, n_clusters: int) -> StratifiedMean:
    """Returns the stratified mean of items, ignoring NaN. All arrays have shape (n_items,)."""
    has = ~np.isnan(values)
    at = stratum[has] * n_clusters + cluster[has]
    shape, size = (n_strata, n_clusters), n_strata * n_clusters
    return StratifiedMean(
        np.bincount(at, values[has], minlength=size).astype(np.float64).reshape(shape),
        np.bincount(at, minlength=size).astype(np.float64).reshape(shape),
    )


def clustered_mean(values: Floats, cluster: Ints, n_clusters: int) -> StratifiedMean:
    """Returns the ordinary mean of items, as a stratified mean with a single stratum."""
    return stratified_mean(values, np.zeros(len(values), np.int64), 1, cluster, n_clusters)


def stratified_intervals(
    means: Sequence[StratifiedMean], rng: np.random.Generator, resamples: int, level: float
) -> list[tuple[float, float] | None]:
    """Returns a percentile interval for each mean. All means must have the same clusters, and share the draws.

    Resamples in which a stratum is empty are skipped. An interval is None if `has_interval` is False, or if the value
    is the same in all resamples, because that does not imply certainty.
    """
    chosen = [place for place, mean in enumerate(means) if mean.has_interval]
    found: list[tuple[float, float] | None] = [None] * len(means)
    if not chosen or resamples < 1:
        return found
    rows = np.concatenate([np.concatenate([means[place].sums, means[place].counts]) for place in chosen])
    sizes = [len(means[place].sums) for place in chosen]
    values = bootstrap(rows.T, lambda drawn: _means(drawn, sizes), rng, resamples)
    for place, of_mean in zip(chosen, values.T, strict=True):
        found[place] = percentile_interval(of_mean, level)
    return found


def _means(drawn: Floats, sizes: Sequence[int]) -> Floats:
    """Returns each resample's means (NaN if any stratum is empty), with shape (n_resamples, n_means). For each mean,
    the columns of `drawn` are the sums of its strata and then their counts. `sizes` counts the strata."""
    parts = np.split(drawn, np.cumsum([2 * size for size in sizes])[:-1], axis=1)
    with np.errstate(invalid="ignore"):
        means = [(part[:, :size] / part[:, size:]).mean(axis=1) for part, size in zip(parts, sizes, strict=True)]
    return np.column_stack(means)
