"""Means and maxima of magnitudes of noisy figures, less what noise alone adds to them, with intervals that reach 0.

A magnitude of noise is never below 0: six figures that are truly 0, each with a standard error of one point, have a
mean magnitude of 0.8 points, and the middle 95 % of its resamples, which add noise to noise, leave 0 out. Here the
noise is that of the resamples about the figures of the data.

- The mean takes, of each figure b with standard error s over the resamples, |b| less what normal noise adds to a
  figure of the size of the root of b^2 - s^2 (or 0): 0.8 s where that is 0, nothing where b is large. It is at least 0,
  and still leans upward, by 0.4 s where a figure is truly 0.
- Its interval holds every mean that some figures compatible with the data may have (Berger and Boos 1994): each lies
  within a box about its own, all together in 99.5 %, and the mean of magnitudes found is no surprise, with 2.25 % on
  either side. Noise adds most where all of the mean is due to one figure, which gives the lower end, and least where
  it is spread over all, which gives the upper one, though none below what was measured. It held the truth in 94 to
  100 % of simulated samples (`test_magnitudes`).
- The largest has an interval that holds all figures together: none deviates by more of its standard errors than 95 %
  of resamples do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BOX = 0.005
"""Chance that the box, within which figures are looked for, leaves one out."""
_STEPS = 20
"""Halvings of a search: to a millionth of where it starts, far below what sampling leaves open."""


@dataclass(frozen=True)
class Magnitude:
    """A magnitude with the ends of its interval, which are None where nothing varies."""

    value: float
    low: float | None = None
    high: float | None = None


def mean_magnitude(values: Floats, weights: Floats, level: float) -> Magnitude:
    """The weighted mean magnitude of figures.

    `values` is (1 + n_resamples, n_figures), those of the data first, without NaN there; resamples with a NaN are left
    out. `weights` is (n_figures,), above 0. Without resamples, or where none varies, it is the plain mean, alone.
    """
    sizes, noise, errors = _parts(values)
    plain = float(weights @ sizes)
    if not len(noise) or not errors.any():
        return Magnitude(plain)
    value = float(weights @ _less_noise(sizes, errors))
    reach = NormalDist().inv_cdf(1.0 - BOX / 2.0 / len(sizes)) * errors
    box = np.maximum(0.0, sizes - reach), sizes + reach
    tail = (1.0 - level - BOX) / 2.0
    low = _lower(plain, noise, errors, box[0], weights, tail)
    # figures that deviate together deviate most in their mean where all have one sign, which the data need not show
    signs = (noise, noise * np.where(values[0] < 0.0, -1.0, 1.0))
    high = max(_upper(plain, one, errors, box, weights, tail) for one in signs)
    return Magnitude(max(value, low), low, max(plain, high))


def largest_magnitude(values: Floats, groups: NDArray[np.int64], level: float) -> Magnitude:
    """The mean over groups of the largest magnitude of any figure in each; `groups` is (n_figures,)."""
    sizes, noise, errors = _parts(values)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    largest = [int(one[np.argmax(sizes[one])]) for one in members]
    if not len(noise) or not errors.any():
        return Magnitude(float(sizes[largest].mean()))
    varies = errors > 0.0
    reach = float(np.quantile(np.abs(noise[:, varies] / errors[varies]).max(axis=1), level)) * errors
    low = float(np.mean([max(0.0, float((sizes - reach)[one].max())) for one in members]))
    high = float(np.mean([float((sizes + reach)[one].max()) for one in members]))
    value = float(_less_noise(sizes, errors)[largest].mean())
    return Magnitude(min(max(value, low), high), low, high)


def _parts(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Magnitudes of the data, deviations of the resamples from the data, and standard errors."""
    resamples = values[1:][~np.isnan(values[1:]).any(axis=1)]
    noise = resamples - values[0]
    errors = noise.std(axis=0) if len(noise) > 1 else np.zeros(values.shape[1])
    return np.abs(values[0]), noise, errors


def _less_noise(sizes: Floats, errors: Floats) -> Floats:
    """Magnitudes less what noise adds: 2 s phi(x) - 2 m Phi(-x) for a true magnitude of m, with x = m / s."""
    from scipy.special import ndtr  # type: ignore[import-untyped]  # its stubs are no dependency

    left = np.sqrt(np.maximum(0.0, sizes**2 - errors**2))
    x = np.divide(left, errors, out=np.full(len(left), np.inf), where=errors > 0.0)
    added = 2.0 * errors * np.exp(-(x**2) / 2.0) / np.sqrt(2.0 * np.pi) - 2.0 * left * ndtr(-x)
    return np.asarray(np.maximum(0.0, sizes - added))


def _lower(plain: float, noise: Floats, errors: Floats, least: Floats, weights: Floats, tail: float) -> float:
    """The least mean magnitude of which noise may make `plain`: the least of the box, and one figure with the rest."""
    share_known = np.divide(least, errors, out=np.full(len(least), np.inf), where=errors > 0.0)
    one = int(np.lexsort((weights * errors, -share_known))[0])
    others = np.delete(np.arange(len(least)), one)
    rest = np.abs(least[others] + noise[:, others]) @ weights[others]

    def excess(more: float) -> float:
        of_one = weights[one] * np.abs(least[one] + more / weights[one] + noise[:, one])
        return float(np.quantile(rest + of_one, 1.0 - tail)) - plain

    return float(weights @ least) + _root(excess, 2.0 * plain)


def _upper(
    plain: float, noise: Floats, errors: Floats, box: tuple[Floats, Floats], weights: Floats, tail: float
) -> float:
    """The greatest mean magnitude of which noise may leave `plain`: all as many standard errors, in the box."""

    def figures(size: float) -> Floats:
        return np.asarray(np.clip(size * errors, *box))

    def excess(size: float) -> float:
        return float(np.quantile(np.abs(figures(size) + noise) @ weights, tail)) - plain

    most = float(np.max(np.divide(box[1], errors, out=np.zeros(len(errors)), where=errors > 0.0)))
    return float(weights @ figures(_root(excess, most)))


def _root(rising: Callable[[float], float], end: float) -> float:
    """Where a rising function passes 0 between 0 and `end`: the nearer of these where it does so nowhere."""
    low, high = 0.0, end
    if rising(low) >= 0.0:
        return low
    if rising(high) < 0.0:
        return high
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if rising(middle) < 0.0 else (low, middle)
    return high
