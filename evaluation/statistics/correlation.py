"""Calculates Pearson's, Spearman's and Kendall's correlation with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from enum import StrEnum
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from factloop.core.figure import Figure, Undefined, ends
from factloop.core.records import Count
from factloop.evaluation.statistics.bootstrap import draw_counts, loses_too_many, percentile_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Coefficient = Annotated[float, Field(ge=-1.0, le=1.0)]
FEWEST_PAIRS = 3
"""With two pairs, every correlation is 1 or -1."""
FEWEST_DRAWN = 10
"""Minimum number of clusters for an interval. With fewer, resamples are too similar to each other. Without clusters,
each pair is its own cluster."""
RESAMPLES = 2000
LEVEL = 0.95
ROUNDING = 1e-12
"""A spread below this fraction of the mean is a rounding error, which would make Pearson's coefficient noise."""


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
    n_left_out: Count = 0
    low: Coefficient | None = None
    high: Coefficient | None = None
    """None without a random generator, with fewer than `FEWEST_DRAWN` clusters, or if more than a twentieth of the
    resamples have no coefficient. Also None if all resamples agree, as for pairs on a line, because that does not imply
    certainty."""
    level: Annotated[float, Field(gt=0.0, lt=1.0)] = LEVEL
    n_clusters: Count
    """Units drawn: groups of pairs, or individual pairs if there are no groups."""
    n_resamples: Count = 0
    n_resamples_undefined: Count = 0
    """Resamples without a coefficient. The interval ignores them."""


def correlate(
    method: Method,
    xs: Sequence[float | None],
    ys: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Correlation:
    """Returns the coefficient of the pairs in which both values are present, with an interval if `rng` is set.

    `clusters` contains the group of each pair. The bootstrap draws whole groups, because pairs in a group resemble each
    other. The order of the pairs does not matter. Raises ValueError for different lengths, NaN or infinity.
    """
    if len(xs) != len(ys) or (clusters is not None and len(clusters) != len(xs)):
        raise ValueError("`xs`, `ys` and `clusters` (if any) must have the same length")
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
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("values must be finite, or None if missing")
    largest = np.abs(array).max(initial=0.0)
    return array / largest if largest > 0.0 else array


def _cluster_numbers(names: Sequence[Hashable]) -> list[int]:
    """Numbers the clusters from 0, whatever the order of the pairs. Returns each pair's cluster number."""
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
    from scipy import stats  # type: ignore[import-untyped]  # its stubs are not a dependency

    order = np.lexsort((y, x))  # so that floating-point sums are the same for every order of the pairs
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


def resampled(
    method: Method, x: Floats, y: Floats, clusters: Sequence[int] | None, rng: np.random.Generator, resamples: int
) -> Floats:
    """Returns each resample's coefficient (NaN if undefined), with shape (resamples,). Whole clusters are drawn.
    `clusters` contains the number of each pair's cluster, from 0 without gaps. If None, each pair is a cluster."""
    cluster_of = np.argsort(np.lexsort((y, x))) if clusters is None else np.asarray(clusters)
    draws = draw_counts(int(cluster_of.max()) + 1, rng, resamples)
    return np.array([_of_resample(method, x, y, row[cluster_of]) for batch in draws for row in batch])


def _of_resample(method: Method, x: Floats, y: Floats, times: Ints) -> float:
    x, y = np.repeat(x, times), np.repeat(y, times)
    if np.ptp(x) <= ROUNDING or np.ptp(y) <= ROUNDING:
        return np.nan
    if method is Method.KENDALL:
        return _coefficient(method, x, y)
    if method is Method.SPEARMAN:
        from scipy.stats import rankdata  # type: ignore[import-untyped]  # its stubs are not a dependency

        x, y = rankdata(x), rankdata(y)
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))
