from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from factloop.evaluation.statistics.magnitudes import Magnitude, largest_magnitude, mean_magnitude

Floats = NDArray[np.float64]


def even(n: int) -> Floats:
    return np.full(n, 1 / n)


def drawn(rng: np.random.Generator, figures: Floats, errors: Floats, together: float, resamples: int) -> Floats:
    def noise(n: int) -> Floats:
        common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, len(figures)))
        return np.asarray(errors * (sqrt(together) * common + sqrt(1 - together) * own))

    found = figures + noise(1)
    return np.concatenate([found, found + noise(resamples)])


def test_without_noise_they_are_plain() -> None:
    values = np.array([[0.1, -0.3], [0.1, -0.3], [0.1, -0.3]])
    assert mean_magnitude(values, even(2), 0.95) == Magnitude(0.2)
    assert mean_magnitude(values[:1], np.array([0.75, 0.25]), 0.95).value == pytest.approx(0.15)
    assert largest_magnitude(values, np.array([0, 0]), 0.95) == Magnitude(0.3)
    assert largest_magnitude(values, np.array([0, 1]), 0.95) == Magnitude(0.2)


def test_the_noise_of_the_resamples_is_taken_off() -> None:
    """By hand: deviations of 3 and -3 about 5 are a standard error of 3; the root of 25 - 9 is 4, to whose magnitude
    noise adds 2 * 3 * phi(4/3) - 2 * 4 * Phi(-4/3) = 6 * .16401 - 8 * .09121 = .25438. To 0 it adds 6 * .39894."""
    values = np.array([[-5.0], *[[-8.0], [-2.0]] * 50])
    assert mean_magnitude(values, even(1), 0.95).value == pytest.approx(5 - 0.25438, abs=1e-4)
    assert largest_magnitude(values, np.array([0]), 0.95).value == pytest.approx(5 - 0.25438, abs=1e-4)
    assert mean_magnitude(values + 2.5, even(1), 0.95).value == pytest.approx(2.5 - 6 * 0.39894, abs=1e-4)
    assert mean_magnitude(values + 3.0, even(1), 0.95).value == 0.0


def test_resamples_without_a_value_are_left_out() -> None:
    values = drawn(np.random.default_rng(0), np.array([3.0, 0.0]), np.ones(2), 0.0, 300)
    with_gaps = np.concatenate([values, np.array([[np.nan, 0.0]])])
    assert mean_magnitude(with_gaps, even(2), 0.95) == mean_magnitude(values, even(2), 0.95)


@pytest.mark.statistical
@pytest.mark.parametrize("together", [0.0, 0.5])
@pytest.mark.parametrize("figures", [[0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0], [0.5, 1, 1.5, 2, 2.5, 3]])
@pytest.mark.parametrize("is_mean", [True, False])
def test_intervals_hold_the_truth(figures: list[float], together: float, is_mean: bool) -> None:
    """Of 300 samples, with 300 resamples each: at least 92 % (95 % has a standard error of 1.3 points)."""
    rng, truth = np.random.default_rng(5), np.array(figures, np.float64)
    groups = np.zeros(len(truth), np.int64)
    n_held = n_sure = 0
    for _ in range(300):
        values = drawn(rng, truth, np.ones(len(truth)), together, 300)
        found = mean_magnitude(values, even(len(truth)), 0.95) if is_mean else largest_magnitude(values, groups, 0.95)
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.value <= found.high
        wanted = np.abs(truth).mean() if is_mean else np.abs(truth).max()
        n_held += found.low <= wanted + 1e-9 and wanted <= found.high + 1e-9
        n_sure += found.low > 1e-9
    assert n_held / 300 >= 0.92
    if not truth.any():
        assert n_sure / 300 <= 0.08  # with resamples of magnitudes it was all of them
