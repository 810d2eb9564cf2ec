"""Pearson, Spearman and Kendall correlation with bootstrap intervals; what is not defined stays None with a reason."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from factloop.core.figure import Figure, Undefined, ends
from factloop.core.records import Count
from factloop.evaluation.statistics.bootstrap import draw_clusters, loses_too_many, percentile_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Coefficient = Annotated[float, Field(ge=-1.0, le=1.0)]
FEWEST_PAIRS = 3
"""The fewest pairs: with two every correlation is 1 or -1."""
FEWEST_DRAWN = 10
"""The fewest clusters, or single pairs, with an interval: resamples of fewer repeat what few pairs happen to show."""
RESAMPLES = 2000
LEVEL = 0.95
ROUNDING = 1e-12
"""A spread below this share of the mean is rounding, and Pearson's coefficient of it would be noise."""
_BATCH = 2**22
"""Numbers in a matrix of weights, at most: 32 MB."""
_BLOCK = 512
"""Columns of the matrix of signs that are held at once."""


class Method(StrEnum):
    PEARSON = "pearson"
    SPEARMAN = "spearman"
    KENDALL = "kendall"
    """Tau-b, which allows for ties."""


class Correlation(Figure):
    """A coefficient in [-1, 1] with a percentile bootstrap interval, or the reason why it is undefined."""

    method: Method
    value: Coefficient | None
    n: Count
    """Pairs that the coefficient rests on."""
    n_left_out: Count = 0
    """Pairs of which one side has no value."""
    low: Coefficient | None = None
    high: Coefficient | None = None
    """None without a generator, with fewer than `FEWEST_DRAWN` clusters, where more than a twentieth of the resamples
    have no coefficient, and where all have the same, as of pairs on one line: nothing varies, which is no certainty."""
    level: Annotated[float, Field(gt=0.0, lt=1.0)] = LEVEL
    n_clusters: Count
    """What was drawn: groups of pairs, or the single pairs where no groups were given."""
    n_resamples: Count = 0
    n_resamples_undefined: Count = 0
    """Resamples without a coefficient; the interval rests on the others, a twentieth of all being the most left out."""


class Options(TypedDict, total=False):
    """Options of a coefficient and its interval."""

    clusters: Sequence[Hashable] | None
    """The group of each pair; the bootstrap draws groups whole, as pairs of one group resemble each other."""
    rng: np.random.Generator | None
    """Generator of the resamples; without it there is no interval."""
    resamples: int
    level: float


def correlate(
    method: Method, xs: Sequence[float | None], ys: Sequence[float | None], **options: Unpack[Options]
) -> Correlation:
    """The coefficient of the pairs in which both sides have a value.

    The order of the pairs changes nothing. Raises ValueError for lengths that differ, and for a NaN or an infinity.
    """
    return _correlate(method, xs, ys, **options)


def pearson(xs: Sequence[float | None], ys: Sequence[float | None], **options: Unpack[Options]) -> Correlation:
    """Pearson's product-moment coefficient, as `correlate` finds it."""
    return _correlate(Method.PEARSON, xs, ys, **options)


def spearman(xs: Sequence[float | None], ys: Sequence[float | None], **options: Unpack[Options]) -> Correlation:
    """Spearman's coefficient: Pearson's of the ranks, ties at their mean rank."""
    return _correlate(Method.SPEARMAN, xs, ys, **options)


def kendall(xs: Sequence[float | None], ys: Sequence[float | None], **options: Unpack[Options]) -> Correlation:
    """Kendall's tau-b. The interval takes time quadratic in the number of distinct pairs."""
    return _correlate(Method.KENDALL, xs, ys, **options)


def _correlate(
    method: Method,
    xs: Sequence[float | None],
    ys: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Correlation:
    if len(xs) != len(ys) or (clusters is not None and len(clusters) != len(xs)):
        raise ValueError("each pair has two sides, and a cluster where clusters are given")
    kept = [place for place, pair in enumerate(zip(xs, ys, strict=True)) if None not in pair]
    x, y = _scaled([xs[place] for place in kept]), _scaled([ys[place] for place in kept])
    numbers = _cluster_numbers([clusters[place] for place in kept]) if clusters is not None else None
    undefined = _why_undefined(method, x, y)
    found = Correlation(
        method=method,
        value=_coefficient(method, x, y) if undefined is None else None,
        undefined=undefined,
        n=len(kept),
        n_left_out=len(xs) - len(kept),
        level=level,
        n_clusters=len(kept) if numbers is None else len(set(numbers)),
    )
    return found if rng is None else _with_interval(found, x, y, numbers, rng, resamples)


def _scaled(values: Sequence[float | None]) -> Floats:
    """The values divided by the largest, which changes no coefficient and keeps sums of squares within floats."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a correlation takes finite numbers, and None for a missing one")
    largest = np.abs(array).max(initial=0.0)
    return array / largest if largest > 0.0 else array


def _cluster_numbers(names: Sequence[Hashable]) -> list[int]:
    """A number from 0 for each pair's cluster, whatever the order of the pairs."""
    order = sorted(set(names), key=lambda name: (type(name).__name__, repr(name)))
    number_of = {name: number for number, name in enumerate(order)}
    return [number_of[name] for name in names]


def _why_undefined(method: Method, x: Floats, y: Floats) -> Undefined | None:
    if len(x) < FEWEST_PAIRS:
        return Undefined.TOO_FEW
    return Undefined.CONSTANT if _is_constant(method, x) or _is_constant(method, y) else None


def _is_constant(method: Method, values: Floats) -> bool:
    if method is not Method.PEARSON:
        return bool((values == values[0]).all())
    mean = float(values.mean())
    return math.dist(values, [mean] * len(values)) <= ROUNDING * abs(mean)


def _coefficient(method: Method, x: Floats, y: Floats) -> float:
    from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency

    order = np.lexsort((y, x))  # so that sums of floats come out the same for every order of the pairs
    x, y = x[order], y[order]
    match method:
        case Method.PEARSON:
            value = stats.pearsonr(x, y).statistic
        case Method.SPEARMAN:
            value = stats.spearmanr(x, y).statistic
        case Method.KENDALL:
            value = stats.kendalltau(x, y, method="asymptotic").statistic
    return min(1.0, max(-1.0, float(value)))


def _with_interval(
    found: Correlation, x: Floats, y: Floats, numbers: list[int] | None, rng: np.random.Generator, resamples: int
) -> Correlation:
    if found.value is None or found.n_clusters < FEWEST_DRAWN:
        return found
    values = resampled(found.method, x, y, numbers, rng, resamples)
    counts = {"n_resamples": resamples, "n_resamples_undefined": int(np.isnan(values).sum())}
    interval = None if loses_too_many(values) else percentile_interval(values, found.level)
    return found.model_copy(update={**ends(interval), **counts})


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

    A resample is a weight for each distinct pair, and all are one matrix: labels and TrustScores take few values, so
    that thousands of pairs come down to a dozen. `clusters` numbers the cluster of each pair from 0 without gaps; None
    makes each pair its own.
    """
    from scipy import sparse

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
    from scipy import sparse

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
