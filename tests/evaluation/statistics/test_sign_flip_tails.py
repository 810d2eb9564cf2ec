"""Tails of sums with turned signs: against every way to turn them, and against many draws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.evaluation.statistics.significance import upper_tail


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
