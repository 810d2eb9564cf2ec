from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from factloop.evaluation.comparing.paired import Items, paired_means, simultaneous_interval
from factloop.evaluation.statistics.sign_flip_intervals import noninferiority_p, sign_flip_interval
from factloop.evaluation.statistics.significance import turned_signs
from factloop.evaluation.statistics.stratified_means import StratifiedMean, clustered_mean

Floats = NDArray[np.float64]


def each_alone(values: list[float] | Floats) -> StratifiedMean:
    return clustered_mean(np.asarray(values, np.float64), np.arange(len(values)), len(values))


def interval(apart: StratifiedMean, level: float) -> tuple[float, float] | None:
    return sign_flip_interval(apart, level, np.random.default_rng(0))


def test_by_hand() -> None:
    """Of 0, 1 and 2 the means of subsets are 0, 0.5, 1, 1, 1, 1.5, 2: the true value falls between any two neighbours,
    or beyond the ends, with a chance of 1/8 each (Hartigan 1969). Four of the eight gaps lie between 0.5 and 1.5.
    """
    assert interval(each_alone([0.0, 1.0, 2.0]), 0.5) == pytest.approx((0.5, 1.5))
    assert interval(each_alone([0.0, 1.0, 2.0]), 0.75) == pytest.approx((0.0, 2.0))
    assert interval(each_alone([0.0, 1.0, 2.0]), 0.76) is None, "two of eight ways are always as far: p >= 1/4"


def test_the_ends_are_ratios_of_subsets_of_groups() -> None:
    """Nine groups of one to four items: 511 ratios leave 512 gaps, of which 0.05 * 512 / 2 = 12.8 go on either side."""
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(9), rng.integers(1, 5, 9))
    values = rng.normal(size=len(cluster))
    sums, counts = np.bincount(cluster, values), np.bincount(cluster)
    chosen = np.array(list(product((0, 1), repeat=9)))[1:]
    ratios = np.sort(chosen @ sums / (chosen @ counts))
    assert interval(clustered_mean(values, cluster, 9), 0.95) == pytest.approx((ratios[11], ratios[-12]))


@given(st.lists(st.sampled_from((-1.0, 0.0, 0.5, 1.0)), min_size=2, max_size=12), st.sampled_from((0.8, 0.95)))
@settings(max_examples=60, deadline=None)
def test_it_holds_0_where_the_test_does_not_reject(values: list[float], level: float) -> None:
    found = interval(each_alone(values), level)
    p = turned_signs(np.array(values))
    if found is not None:
        assert (found[0] <= 1e-9 and found[1] >= -1e-9) == (p > 1.0 - level + 1e-12)


@pytest.mark.parametrize("values", [[], [1.0], [0.0] * 30, [0.25] * 30])
def test_nothing_varies(values: list[float]) -> None:
    assert interval(each_alone(values), 0.95) is None


def test_drawn_ends_are_put_on_the_side_that_the_test_says() -> None:
    """Six of 60 claims flip one way: p = 2/64 whatever is drawn, so 0 is outside at 95 % and inside of two tests."""
    values = np.zeros(60)
    values[:6] = 1.0
    means = paired_means(np.zeros(60), values, Items.of_clusters(np.arange(60), 60))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        alone = simultaneous_interval(means.apart, 2 / 64, 0.95, 1, rng)
        of_two = simultaneous_interval(means.apart, 4 / 64, 0.95, 2, rng)
        assert alone is not None
        assert alone[0] >= 0.0
        assert of_two is not None
        assert of_two[0] <= 0.0 < of_two[1]
        assert of_two[1] > alone[1]


def test_noninferiority_by_hand() -> None:
    """0, 0 and -1 with a margin of 1 are 1, 1 and 0: of four ways to turn two signs one gives 2 or more."""
    values = each_alone([0.0, 0.0, -1.0])
    assert noninferiority_p(values, 1.0) == pytest.approx(1 / 4)
    assert noninferiority_p(values, 0.0) == 1.0, "-1 is the lowest of its two ways"
