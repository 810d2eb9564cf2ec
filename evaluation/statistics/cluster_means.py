"""Means of responses with bootstrap intervals, many at once: prompts are drawn whole, and the same ones for every mean.

Responses of several systems to one prompt resemble each other, so the prompt is what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BATCH = 2**17
"""Numbers in a matrix of weights, at most: 1 MB, so that a long run needs no more memory than a short one."""
ROUNDING = 1e-12
"""An interval no wider than this has no width."""


@dataclass(frozen=True)
class ClusterSums:
    """What a mean is made of, by prompt."""

    sums: Floats
    """(n_clusters,)"""
    counts: Floats
    """(n_clusters,)"""


def mean_intervals(
    means: Sequence[ClusterSums], rng: np.random.Generator, resamples: int, level: float
) -> list[tuple[float, float] | None]:
    """Percentile interval of each mean; None where fewer than two clusters have a response of it.

    A resample in which a mean has no response says nothing of it and is passed over. None, too, where the mean is the
    same in every resample, as of responses that all score 0: nothing varies, which is no certainty.
    """
    if not means:
        return []
    sums = np.column_stack([mean.sums for mean in means])
    counts = np.column_stack([mean.counts for mean in means])
    values = (
        [_means(weights, sums, counts) for weights in draw_clusters(len(sums), rng, resamples)] if len(sums) else []
    )
    resampled = np.concatenate(values) if values else np.empty((0, len(means)))
    return [
        percentile_interval(column[~np.isnan(column)], level) if np.count_nonzero(count) > 1 else None
        for column, count in zip(resampled.T, counts.T, strict=True)
    ]


def _means(weights: Floats, sums: Floats, counts: Floats) -> Floats:
    """(n_resamples, n_means), NaN where nothing was drawn of a mean."""
    with np.errstate(invalid="ignore"):
        return np.asarray((weights @ sums) / (weights @ counts))


def percentile_interval(values: Floats, level: float) -> tuple[float, float] | None:
    """The middle `level` of the values; None without any, and where it has no width."""
    if not len(values):
        return None
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return (float(low), float(high)) if high - low > ROUNDING else None


def draw_clusters(n_clusters: int, rng: np.random.Generator, resamples: int) -> Iterator[Floats]:
    """Matrices (n_resamples, n_clusters) of how often each cluster was drawn."""
    batch = max(1, _BATCH // n_clusters)
    for start in range(0, resamples, batch):
        size = min(batch, resamples - start)
        places = rng.integers(0, n_clusters, size=(size, n_clusters)) + n_clusters * np.arange(size)[:, None]
        times = np.bincount(places.ravel(), minlength=size * n_clusters)
        yield times.reshape(size, n_clusters).astype(np.float64)
