"""The cluster bootstrap, which resamples whole clusters with replacement and recalculates the figures.

Whole clusters are drawn because claims in a response resemble each other, as do responses to a prompt. A resample is
represented by how often each cluster was drawn. Multiplying these counts by the clusters' sums gives the sums of the
resample, so a single matrix product covers all resamples of all figures. Each caller supplies the statistic to compute
from these sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_ONCE = 2**17
"""Maximum number of elements in a matrix of draws (1 MB), so that long runs need no more memory than short ones."""
ROUNDING = 1e-12
"""Intervals up to this width are treated as having no width."""
MOST_LOST = 0.05
"""If a larger fraction of resamples is undefined, the others do not represent the distribution."""


def draw_counts(n_clusters: int, rng: np.random.Generator, resamples: int) -> Iterator[Ints]:
    """Yields matrices of shape (n_resamples, n_clusters) that count how often each cluster was drawn."""
    batch = max(1, AT_ONCE // n_clusters)
    for start in range(0, resamples, batch):
        size = min(batch, resamples - start)
        places = rng.integers(0, n_clusters, size=(size, n_clusters)) + n_clusters * np.arange(size)[:, None]
        yield np.bincount(places.ravel(), minlength=size * n_clusters).reshape(size, n_clusters)


def sample_and_draws(n_clusters: int, rng: np.random.Generator | None, resamples: int) -> Floats:
    """Returns a row of ones for the sample and, if `rng` is set, a row of counts for each resample. The shape is (1 +
    n_resamples, n_clusters)."""
    sample = np.ones((1, n_clusters))
    drawn = () if rng is None or not n_clusters else draw_counts(n_clusters, rng, resamples)
    return np.concatenate([sample, *drawn])


def bootstrap(
    of_clusters: Floats, statistic: Callable[[Floats], Floats], rng: np.random.Generator, resamples: int
) -> Floats:
    """Returns the statistic of each resample.

    `of_clusters` contains the sums of each cluster and has shape (n_clusters, ...). `statistic` takes the sums of all
    resamples, of shape (n_resamples, ...), and returns one row per resample, in which undefined values are NaN.
    """
    flat = np.ascontiguousarray(of_clusters.reshape(len(of_clusters), -1))
    with one_blas_thread():
        sums = np.concatenate([weights @ flat for weights in draw_counts(len(flat), rng, resamples)])
    return statistic(sums.reshape(-1, *of_clusters.shape[1:]))


def percentile_interval(values: Floats, level: float) -> tuple[float, float] | None:
    """Returns the central interval that contains a fraction of `level` of the values, ignoring NaN. None if there are
    no values, or if the interval has no width, because equal resamples do not imply certainty."""
    low, high, _ = percentiles(values[:, None], (1.0 - level) / 2.0)
    return (float(low[0]), float(high[0])) if high[0] - low[0] > ROUNDING else None  # false if both are NaN


def loses_too_many(values: Floats) -> bool:
    return int(np.isnan(values).sum()) > MOST_LOST * len(values)


def percentiles(values: Floats, tail: float) -> tuple[Floats, Floats, Ints]:
    """Returns the bounds that cut off a fraction of `tail` at each end of each column, and the number of NaNs in each
    column. The bounds ignore NaN. If a whole column is NaN, so are both bounds."""
    n_undefined = np.isnan(values).sum(axis=0)
    ends = np.full((2, values.shape[1]), np.nan)
    for quantile, columns in (
        (np.quantile, n_undefined == 0),
        (np.nanquantile, (n_undefined > 0) & (n_undefined < len(values))),
    ):
        if len(values) and columns.any():
            ends[:, columns] = quantile(values[:, columns], (tail, 1.0 - tail), axis=0)
    return ends[0], ends[1], n_undefined


def one_blas_thread() -> AbstractContextManager[object]:
    """Limits matrix products in the whole process to one thread, which speeds up those of medium-sized matrices."""
    limited: AbstractContextManager[object] = _threads().limit(limits=1, user_api="blas")
    return limited


@cache
def _threads() -> Any:
    """Cached because finding the libraries takes longer than most matrix products."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it ships no types

    return ThreadpoolController()
