"""Correlations of many resamples at once: a resample is a weight for each distinct pair, and all are one matrix.

Labels and TrustScores take few values, so thousands of pairs come down to a dozen distinct ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]  # its stubs are no dependency

from factloop.evaluation.statistics.bootstrap import draw_clusters
from factloop.evaluation.statistics.correlation import ROUNDING, Method

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BATCH = 2**22
"""Numbers in a matrix of weights, at most: 32 MB."""
_BLOCK = 512
"""Columns of the matrix of signs that are held at once."""


@dataclass(frozen=True)
class _Column:
    """One side of the distinct pairs: its values, and which of them are equal."""

    values: Floats
    """(n_pairs,), about 0."""
    group: Ints
    """(n_pairs,): the place of each value among the distinct values in rising order."""
    is_in_group: Any
    """(n_pairs, n_groups), sparse."""

    def group_weights(self, weights: Floats) -> Floats:
        """(n_resamples, n_groups): how often each distinct value was drawn."""
        return np.asarray(weights @ self.is_in_group)

    def mid_ranks(self, weights: Floats) -> Floats:
        """(n_resamples, n_pairs): the rank of each pair in each resample, ties at their mean."""
        drawn = self.group_weights(weights)
        return np.asarray((np.cumsum(drawn, axis=1) - (drawn - 1.0) / 2.0)[:, self.group])


def resampled(
    method: Method, x: Floats, y: Floats, clusters: Sequence[int] | None, rng: np.random.Generator, resamples: int
) -> Floats:
    """(resamples,): the coefficient of each resample of whole clusters, NaN where it is undefined.

    `clusters` numbers the cluster of each pair from 0 without gaps; None makes each pair its own.
    """
    distinct, pair_of = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
    pair_of = pair_of.reshape(-1)  # numpy 2.0 alone gives a column
    cluster_of = np.argsort(np.argsort(pair_of, kind="stable")) if clusters is None else np.asarray(clusters)
    holds: Any = sparse.csr_array((np.ones(len(x)), (cluster_of, pair_of)))
    one, other = _column(distinct[:, 0]), _column(distinct[:, 1])
    n_clusters, n_pairs = holds.shape
    drawn = draw_clusters(n_clusters, rng, resamples, at_once=_BATCH * n_clusters // max(n_clusters, n_pairs))
    batches = [_coefficients(method, np.asarray(times @ holds), one, other) for times in drawn]
    return np.concatenate(batches) if batches else np.empty(0)


def _column(values: Floats) -> _Column:
    _, group = np.unique(values, return_inverse=True)
    is_in_group = sparse.csr_array((np.ones(len(values)), (np.arange(len(values)), group)))
    return _Column(values - values.mean(), group, is_in_group)


def _coefficients(method: Method, weights: Floats, x: _Column, y: _Column) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):  # a resample of one value is 0 / 0: NaN
        match method:
            case Method.PEARSON:
                values = _pearson(weights, x.values, y.values)
            case Method.SPEARMAN:
                values = _pearson_by_row(weights, x.mid_ranks(weights), y.mid_ranks(weights))
            case Method.KENDALL:
                values = _tau_b(weights, x, y)
    return np.clip(values, -1.0, 1.0)


def _pearson(weights: Floats, x: Floats, y: Floats) -> Floats:
    sums = weights @ np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    mean = sums / sums[:, :1]
    _, x_mean, y_mean, x_square, y_square, product = mean.T
    spread = _variance(x_mean, x_square) * _variance(y_mean, y_square)
    return np.asarray((product - x_mean * y_mean) / np.sqrt(spread))


def _variance(mean: Floats, square: Floats) -> Floats:
    """NaN where it is no more than rounding."""
    variance = square - mean**2
    return np.where(variance > ROUNDING * square, variance, np.nan)


def _pearson_by_row(weights: Floats, x: Floats, y: Floats) -> Floats:
    """`x` and `y` differ from resample to resample: ranks, whose mean is that of the numbers from 1 to the total."""
    mean = (weights.sum(axis=1, keepdims=True) + 1.0) / 2.0
    x, y = x - mean, y - mean
    return np.asarray((weights * x * y).sum(axis=1) / np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(1)))


def _tau_b(weights: Floats, x: _Column, y: _Column) -> Floats:
    """Concordant less discordant pairs of pairs, over the geometric mean of those untied in x and those untied in y."""
    balance, whole = np.zeros(len(weights)), weights.astype(np.float32)  # exact below 2**24 pairs, and twice as fast
    for start in range(0, len(x.values), _BLOCK):
        block = slice(start, start + _BLOCK)
        signs = np.sign(x.group[:, None] - x.group[block]) * np.sign(y.group[:, None] - y.group[block])
        balance += ((whole @ signs.astype(np.float32)) * weights[:, block]).sum(axis=1)
    total = weights.sum(axis=1) ** 2
    untied = [total - (column.group_weights(weights) ** 2).sum(axis=1) for column in (x, y)]
    return np.asarray(balance / np.sqrt(untied[0] * untied[1]))
