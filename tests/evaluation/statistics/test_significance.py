from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency

from factloop.evaluation.statistics.significance import (
    PValueAdjustment,
    adjusted_p_values,
    fewest_prompts,
    least_p_of,
    sign_flips,
    upper_tail,
)


def flips(*differences: float) -> float:
    return sign_flips(np.asarray(differences, dtype=np.float64))


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 5))
def test_differences_of_one_size_are_mcnemars_exact_test(up: int, down: int, none: int) -> None:
    found = flips(*[0.01] * up, *[-0.01] * down, *[0.0] * none)
    expected = stats.binomtest(up, up + down).pvalue if up + down else 1.0
    assert found == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9))
def test_a_lattice_gives_what_all_signs_give(differences: list[int]) -> None:
    turned = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = float(np.mean(np.asarray(turned) >= abs(sum(differences)) - 1e-9))
    assert flips(*differences) == pytest.approx(expected)


def test_many_unequal_differences_are_taken_as_normal() -> None:
    differences = np.random.default_rng(3).normal(0.1, 1.0, 400)
    z = differences.sum() / np.sqrt((differences**2).sum())
    assert flips(*differences) == pytest.approx(2 * stats.norm.cdf(-abs(z)), abs=1e-12)
    draws = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(1)
    )
    assert flips(*differences) == pytest.approx(draws.pvalue, abs=0.02)


def test_corrections_by_hand() -> None:
    p = [0.04, 0.01, 0.03]
    assert adjusted_p_values(p, PValueAdjustment.NONE) == p
    # rising .01 .03 .04 times 3 2 1: .03 .06 .04, and never falling: .03 .06 .06
    assert adjusted_p_values(p, PValueAdjustment.HOLM) == pytest.approx([0.06, 0.03, 0.06])
    assert [adjusted_p_values([], correction) for correction in PValueAdjustment] == [[], []]


def test_the_least_p_of_few_prompts_is_that_of_the_exact_binomial_test() -> None:
    """All n signs alike: 2 of 2^n ways to turn them. Five give .0625, six .03125; p <= .001 takes 11 (2 / 2048)."""
    for n in range(1, 12):
        assert least_p_of(n) == pytest.approx(stats.binomtest(n, n, 0.5).pvalue)
    assert [fewest_prompts(alpha) for alpha in (0.05, 0.0625, 0.05 / 3, 0.001)] == [6, 5, 7, 11]


def all_ways(sizes: list[float], reached: float) -> float:
    sums = np.array(list(product((-1.0, 1.0), repeat=len(sizes)))) @ np.array(sizes)
    return float((sums >= reached - 1e-9).mean())


def test_by_hand() -> None:
    """Of 1, 2, 3 the sums are -6 -4 -2 0 0 2 4 6: two of eight are 4 or more, five 0 or more."""
    assert upper_tail(np.array([3.0, 1.0, 2.0]), 4.0) == pytest.approx(2 / 8)
    assert upper_tail(np.array([1.0, 0.0, 2.0, 3.0]), 0.0) == pytest.approx(5 / 8)
    assert upper_tail(np.array([1.0, 2.0, 3.0]), 6.1) == 0.0
    with pytest.raises(ValueError, match="above 0"):
        upper_tail(np.zeros(3), 0.0)


@given(st.lists(st.sampled_from((0.25, 1 / 3, 0.5, 2 / 3, 1.0)), min_size=1, max_size=10), st.data())
def test_shares_of_small_counts_are_exact(sizes: list[float], data: st.DataObject) -> None:
    """With ties: a sum that is reached exactly counts."""
    signs = data.draw(st.lists(st.sampled_from((-1.0, 1.0)), min_size=len(sizes), max_size=len(sizes)))
    reached = float(np.dot(signs, sizes))
    assert upper_tail(np.array(sizes), reached) == pytest.approx(all_ways(sizes, reached))


@given(st.lists(st.floats(0.01, 1.0), min_size=11, max_size=13), st.floats(0.0, 4.0))
def test_other_sizes_are_never_too_low_and_hardly_too_high(sizes: list[float], reached: float) -> None:
    """A sum may count that falls short by rounding: at most those within 10 steps of the lattice."""
    found, step = upper_tail(np.array(sizes), reached), sum(sizes) / 2**16
    assert all_ways(sizes, reached + 10 * step) - 1e-9 <= found <= all_ways(sizes, reached - 10 * step) + 1e-9
