"""Exact bounds on shares of errors, against scipy and statsmodels and by hand."""

from __future__ import annotations

import pytest
from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # ships no type hints

from factloop.evaluation.cascades.bounds import p_values, upper_bound


@pytest.mark.parametrize(("wrong", "n"), [(0, 1), (0, 59), (1, 93), (3, 20), (10, 10), (49, 349)])
@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.00625])
def test_the_bound_is_clopper_and_pearsons(wrong: int, n: int, alpha: float) -> None:
    _, high = proportion_confint(wrong, n, alpha=2 * alpha, method="beta")
    assert upper_bound(wrong, n, alpha) == pytest.approx(high)
    by_scipy = stats.binomtest(wrong, n, alternative="less").proportion_ci(1 - alpha).high
    assert upper_bound(wrong, n, alpha) == pytest.approx(by_scipy)


@pytest.mark.parametrize(("wrong", "n", "share"), [(0, 59, 0.05), (2, 30, 0.2), (5, 5, 0.3), (1, 2, 0.5)])
def test_a_p_value_is_the_chance_of_so_few_errors(wrong: int, n: int, share: float) -> None:
    assert p_values(wrong, n, share) == pytest.approx(stats.binom.cdf(wrong, n, share))


def test_nothing_seen_bounds_nothing() -> None:
    assert upper_bound(0, 0, 0.05) is None
    assert p_values([0, 0], [0, 10], 0.1).tolist() == pytest.approx([1.0, 0.9**10])
