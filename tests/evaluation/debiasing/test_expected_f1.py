"""F1@K to expect of claims that are truly supported with known probability, against all outcomes counted out."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom  # type: ignore[import-untyped]  # it ships no types

from factloop.evaluation.debiasing.f1 import FEW, ExpectedF1


def counted_out(supported: int, others: int, k: int, if_supported: float, if_not: float) -> float:
    found = 0.0
    for one, other in product(range(supported + 1), range(others + 1)):
        s, n = one + other, supported + others
        chance = binom.pmf(one, supported, if_supported) * binom.pmf(other, others, if_not)
        found += chance * (2 * s / (n + max(s, k)))
    return found


@pytest.mark.parametrize(
    ("supported", "others"), [(0, 0), (0, 1), (2, 0), (1, 1), (3, 5), (0, 9), (12, 0), (20, 10), (25, 15), (60, 5)]
)
@pytest.mark.parametrize("k", [1, 4, 15, 64])
def test_expectations_are_those_of_all_outcomes(supported: int, others: int, k: int) -> None:
    f1 = ExpectedF1(np.array([supported, 3.0]), np.array([others, 1.0]), k)
    shares = [(0.9, 0.2), (0.5, 0.5), (1.0, 0.0), (0.95, 0.05)]
    found = f1.at(np.array([one for one, _ in shares]), np.array([other for _, other in shares]))
    exact = supported + others <= max(FEW, k)
    for row, (one, other) in zip(found.tolist(), shares, strict=True):
        wanted = counted_out(supported, others, k, one, other) if supported + others else 0.0
        assert row[0] == pytest.approx(wanted, abs=1e-9 if exact else 0.005)
        assert row[1] == pytest.approx(counted_out(3, 1, k, one, other))


def test_an_unknown_share_gives_no_value() -> None:
    for n in (4.0, 50.0):
        found = ExpectedF1(np.array([n]), np.array([1.0]), 2).at(np.array([math.nan]), np.array([0.1]))
        assert np.isnan(found).all()
