from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import bootstrap, sem  # type: ignore[import-untyped]  # its stubs are no dependency

from factloop.evaluation.statistics.stratified_means import StratifiedMean, stratified_intervals, stratified_mean

Floats = NDArray[np.float64]


def mean_of(values: list[float], stratum: list[int], cluster: list[int], n_strata: int = 2) -> StratifiedMean:
    return stratified_mean(
        np.array(values),
        np.array(stratum, np.int64),
        n_strata,
        np.array(cluster, np.int64),
        max(cluster, default=0) + 1,
    )


def test_by_hand() -> None:
    """Strata 0: (1 + 0) / 2 = 1/2; 1: (1 + 1 + 0) / 3 = 2/3; their mean 7/12. Cluster 0 holds 1 of stratum 0 and 1 of
    stratum 1: 1/2/2 + 1/3/2 = 5/12; cluster 1 holds 0 and 1: 1/3/2 = 2/12; cluster 2 holds 0. Together 7/12."""
    found = mean_of([1, 1, 0, 1, 0, np.nan], [0, 1, 0, 1, 1, 0], [0, 0, 1, 1, 2, 3])
    assert found.value == pytest.approx(7 / 12)
    assert found.parts == pytest.approx([5 / 12, 2 / 12, 0, 0])
    assert (found.n, found.n_clusters) == (5, 3)


def test_a_stratum_without_items_leaves_no_value() -> None:
    found = mean_of([1, 0], [1, 1], [0, 1])
    assert found.value is None
    assert found.empty_strata == [0]
    assert not found.has_interval


def test_the_standard_error_of_independent_items_is_the_usual_one() -> None:
    values = np.random.default_rng(1).normal(size=30)
    found = stratified_mean(values, np.zeros(30, np.int64), 1, np.arange(30), 30)
    assert found.standard_error == pytest.approx(sem(values))


def test_intervals_are_those_of_scipy() -> None:
    """With 9,999 draws each, ends of the same distribution differ by Monte Carlo error alone."""
    values = np.random.default_rng(2).normal(size=40)
    mean = stratified_mean(values, np.zeros(40, np.int64), 1, np.arange(40), 40)
    (found,) = stratified_intervals([mean], np.random.default_rng(0), 9999, 0.95)
    wanted = bootstrap(
        (values,), np.mean, n_resamples=9999, method="percentile", confidence_level=0.95, rng=np.random.default_rng(1)
    ).confidence_interval
    assert found == pytest.approx((wanted.low, wanted.high), abs=0.02)


def test_there_is_no_interval_where_nothing_varies_or_no_draws_are_asked_for() -> None:
    same = mean_of([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1], [0, 1, 2, 3])
    alone = mean_of([1.0, 0.0, 1.0], [0, 0, 1], [0, 1, 2])
    assert stratified_intervals([same, alone], np.random.default_rng(0), 200, 0.95) == [None, None]
    varies = mean_of([1.0, 0.0], [0, 0], [0, 1], n_strata=1)
    assert stratified_intervals([varies], np.random.default_rng(0), 0, 0.95) == [None]
