from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency

from factloop.evaluation.statistics.clustered_proportions import (
    ClusteredErrors,
    Floats,
    clustered_proportions,
    within_clusters,
)


def side(*responses: tuple[int, int]) -> ClusteredErrors:
    errors, totals = np.asarray(responses, np.float64).T
    return ClusteredErrors.of(errors, totals)


def test_by_hand() -> None:
    """Errors of two claims each: 2, 2, 0 of one system and 0, 0, 1 of the other: r = 5 / 12. Sums of deviations 2 - 2 r
    = 7/6 twice, -5/6 three times, 1/6: squares 2 * 49/36 + 3 * 25/36 + 1/36 = 174/36, times 6/5: 5.8. Of single claims:
    5 (7/12)^2 + 7 (5/12)^2 = 35/12. Of pairs there are 12, by 35/144: rho = .98857."""
    one, other = side((2, 2), (2, 2), (0, 2)), side((0, 2), (0, 2), (1, 2))
    rho = (5.8 - 35 / 12) / (35 / 12)
    assert within_clusters(one, other) == pytest.approx(rho)
    z = (4 / 6 - 1 / 6) / sqrt(2 * 35 / 144 * (1 + rho) / 6)
    assert clustered_proportions(one, other) == pytest.approx(2 * stats.norm.sf(z))


def test_claims_that_repeat_each_other_count_once() -> None:
    """Ten equal claims in each response say no more than one: but for the figure taken from them, the same p-value."""
    single = [side(*(((k < wrong), 1) for k in range(40))) for wrong in (8, 20)]
    tenfold = [side(*((10 * (k < wrong), 10) for k in range(40))) for wrong in (8, 20)]
    assert within_clusters(*tenfold) == 1.0
    assert clustered_proportions(*tenfold) == pytest.approx(clustered_proportions(*single))


def test_without_errors_or_with_nothing_else_there_is_no_difference() -> None:
    for wrong in (0, 3):
        assert clustered_proportions(side((wrong, 3)), side((wrong, 3), (wrong, 3))) == 1.0
    with pytest.raises(ValueError, match="at least one claim"):
        clustered_proportions(side((0, 0)), side((1, 2)))


def drawn(rng: np.random.Generator, n_responses: int, most: int, share: float, rho: float) -> tuple[Floats, Floats]:
    totals = rng.integers(1, most + 1, n_responses)
    shape = 1 / rho - 1
    errors = rng.binomial(totals, rng.beta(share * shape, (1 - share) * shape, n_responses))
    return errors.astype(np.float64), totals.astype(np.float64)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n_responses", "most", "shares", "rho"),
    [((40, 40), (19, 19), (0.5, 0.5), 0.5), ((60, 12), (9, 39), (0.2, 0.2), 0.25), ((8, 8), (19, 19), (0.3, 0.3), 0.3)],
)
def test_equal_systems_differ_in_one_sample_of_twenty(
    n_responses: tuple[int, int], most: tuple[int, int], shares: tuple[float, float], rho: float
) -> None:
    """Of 2,000 samples; a share of 5 % has a standard error of 0.5 points."""
    rng = np.random.default_rng(14)
    p_values = np.array(
        [
            clustered_proportions(
                *(
                    ClusteredErrors.of(*drawn(rng, n, claims, share, rho))
                    for n, claims, share in zip(n_responses, most, shares, strict=True)
                )
            )
            for _ in range(2000)
        ]
    )
    assert 0.025 <= (p_values < 0.05).mean() <= 0.07
