"""Calculates intervals of the paired differences that the sign-flip test does not reject.

If the second side is higher by delta, each group's part minus delta might just as well have the opposite sign. The
interval at level 1 - alpha thus contains every delta whose p-value is above alpha (Lehmann and Romano 2005, section
5.4). Unlike a percentile bootstrap, it contains 0 if and only if the test does not reject 0.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.statistics.bootstrap import ROUNDING, one_blas_thread
from factloop.evaluation.statistics.significance import ALL_SIGNS, ENOUGH_DIFFERENCES, equal_weight, upper_tail
from factloop.evaluation.statistics.stratified_means import StratifiedMean

Floats = NDArray[np.float64]

DRAWS = 4999
"""Random sign flips used to find the ends of an interval. At a tail of 0.05, the error is 0.003. P-values do not use
these flips."""
FEWEST_DRAWS = 20
"""If fewer draws are expected beyond an end of the interval, a normal distribution is used instead."""
_BLOCK = 1024
"""Number of groups whose random signs are in memory at the same time (40 MB)."""


def sign_flip_interval(apart: StratifiedMean, level: float, rng: np.random.Generator) -> tuple[float, float] | None:
    """Returns the two-sided interval for a paired difference. `level` is in (0, 1). Returns None if a stratum has fewer
    than two groups, if all groups are equal, or if there are too few groups to rule out any difference."""
    if not apart.has_interval or apart.value is None:
        return None
    weights = apart.weights
    there = weights > 0.0
    parts, weights = apart.parts[there], weights[there]
    tail = 1.0 - level
    below, above = _reach(parts, weights, tail, rng)
    if not np.isfinite(below + above) or below + above <= ROUNDING:
        return None
    return apart.value - below, apart.value + above


def noninferiority_p(apart: StratifiedMean, margin: float) -> float:
    """Returns the one-sided p-value of the hypothesis that the second side is lower by `margin` or more.

    The margin is added to the parts, and the p-value is the fraction of all ways to flip their signs that give at least
    the observed sum. A margin of 0 tests whether the second side is higher. The p-value is 1 if no group differs from
    the margin. Every stratum must contain at least one item.
    """
    return _one_sided(apart.parts + margin * apart.weights)


def _reach(parts: Floats, weights: Floats, tail: float, rng: np.random.Generator) -> tuple[float, float]:
    """Returns how far the interval extends below and above the difference, or infinity where nothing is ruled out."""
    n = len(parts)
    is_drawn = n > ALL_SIGNS
    if is_drawn and (equal_weight(parts) >= ENOUGH_DIFFERENCES or tail * (DRAWS + 1) < FEWEST_DRAWS):
        return _normal_reach(parts, weights, tail)
    turned = _turned(np.column_stack([parts, weights]), rng)
    value = float(parts.sum())
    kept = turned[:, 1]
    moved = turned[:, 0] - value * kept
    # At value - u, the flipped sum is moved + u kept, and the observed one is u. The flipped sum is at least as far
    # from 0 as the observed one for all u up to the larger of two values.
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = moved / (1.0 - kept), moved / (1.0 + kept)
    alike = np.abs(kept) >= 1.0 - ROUNDING  # if no signs or all signs are flipped, it is as far for every u
    below = np.where(alike, np.inf, np.maximum(one, -other))
    above = np.where(alike, np.inf, np.maximum(other, -one))
    if is_drawn:
        below, above = np.append(below, np.inf), np.append(above, np.inf)  # the observed signs count as one draw
    rank = int(np.floor(tail * len(below) * (1.0 + ROUNDING)))
    return float(np.sort(below)[::-1][rank]), float(np.sort(above)[::-1][rank])


def _normal_reach(parts: Floats, weights: Floats, tail: float) -> tuple[float, float]:
    """Returns the two solutions for u of u^2 = z^2 sum (r + u w)^2, where r are the parts without the difference."""
    from scipy.special import ndtri  # type: ignore[import-untyped]  # its stubs are not a dependency

    square = float(ndtri(tail / 2.0)) ** 2
    left = parts - parts.sum() * weights
    a, b, c = 1.0 - square * (weights @ weights), -square * (left @ weights), -square * (left @ left)
    if a <= 0.0:
        return np.inf, np.inf
    root = float(np.sqrt(b * b - a * c))
    return (root - b) / a, (root + b) / a


def _one_sided(shifted: Floats) -> float:
    from scipy.special import ndtr

    sizes = np.abs(shifted)
    differing = shifted[sizes > ROUNDING * sizes.max(initial=0.0)]
    if not len(differing):
        return 1.0
    reached = differing.sum()
    if len(differing) > ALL_SIGNS and equal_weight(differing) >= ENOUGH_DIFFERENCES:
        return float(ndtr(-reached / np.sqrt((differing**2).sum())))
    if len(differing) > ALL_SIGNS:
        return upper_tail(np.abs(differing), float(reached))
    turned = _all_turned(differing[:, None])[:, 0]
    return int((turned >= reached - ROUNDING * sizes.sum()).sum()) / len(turned)


def _all_turned(columns: Floats) -> Floats:
    return np.asarray(np.array(list(product((-1.0, 1.0), repeat=len(columns)))) @ columns)


def _turned(columns: Floats, rng: np.random.Generator) -> Floats:
    n = len(columns)
    if n <= ALL_SIGNS:
        return _all_turned(columns)
    sums = np.zeros((DRAWS, columns.shape[1]))
    with one_blas_thread():
        for start in range(0, n, _BLOCK):
            block = columns[start : start + _BLOCK]
            signs = rng.integers(0, 2, size=(DRAWS, len(block)), dtype=np.int8) * 2.0 - 1.0
            sums += signs @ block
    return sums
