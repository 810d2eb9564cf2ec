from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency

from factloop.core.figure import Undefined
from factloop.evaluation.statistics.correlation import Correlation, Method, correlate

ALL = tuple(partial(correlate, method) for method in Method)
pearson = ALL[0]
THEIRS: dict[str, Callable[..., float]] = {
    "pearson": lambda x, y: float(stats.pearsonr(x, y).statistic),
    "spearman": lambda x, y: float(stats.spearmanr(x, y).statistic),
    "kendall": lambda x, y: float(stats.kendalltau(x, y).statistic),
}
Measure = Callable[..., Correlation]


def value(found: Correlation) -> float:
    assert found.value is not None
    return found.value


def interval(found: Correlation) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@pytest.mark.parametrize("measure", ALL)
def test_a_pair_without_a_value_is_left_out_and_counted(measure: Measure) -> None:
    found = measure([1, None, 2, 3, 9, None, 4], [2, 3, 4, 1, None, None, 5])
    whole = measure([1, 2, 3, 4], [2, 4, 1, 5])
    assert (found.value, found.n, found.n_left_out) == (whole.value, 4, 3)


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize(
    ("xs", "ys", "reason"),
    [
        ([], [], Undefined.TOO_FEW),
        ([1, 2], [1, 2], Undefined.TOO_FEW),
        ([None, 1, 2, None], [3, 1, 2, 3], Undefined.TOO_FEW),
        ([1, 1, 1], [1, 2, 3], Undefined.CONSTANT),
        ([1, 2, 3], [0, 0, 0], Undefined.CONSTANT),
        ([0.1, 0.1, 0.1, None], [1, 2, 3, 4], Undefined.CONSTANT),
    ],
)
def test_what_is_undefined_stays_none_with_its_reason(
    measure: Measure, xs: list[float | None], ys: list[float | None], reason: Undefined
) -> None:
    found = measure(xs, ys, rng=np.random.default_rng(1))
    assert (found.value, found.low, found.high, found.undefined) == (None, None, None, reason)


def test_rounding_is_no_spread() -> None:
    """0.1 + 0.2 and 0.3 differ in the last digit: Pearson's coefficient of that would be noise."""
    assert pearson([0.3, 0.1 + 0.2, 0.3], [1, 2, 3]).undefined is Undefined.CONSTANT


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("extreme", [1e308, 1e-308, 5e-324])
def test_extreme_numbers_neither_overflow_nor_vanish(measure: Measure, extreme: float) -> None:
    found = measure([-extreme, extreme, 0.0], [1, 3, 2], rng=np.random.default_rng(1), resamples=50)
    assert found.value == pytest.approx(1.0)


@pytest.mark.parametrize("measure", ALL)
def test_what_is_no_number_is_refused(measure: Measure) -> None:
    for wrong in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            measure([1, 2, wrong], [1, 2, 3])
    with pytest.raises(ValueError, match="the same length"):
        measure([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="the same length"):
        measure([1, 2, 3], [1, 2, 3], clusters=["a"])


NUMBERS = st.integers(-5, 5) | st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=30).filter(
    lambda pairs: all(len(set(side)) > 1 for side in zip(*pairs, strict=True))
)


@given(PAIRS, st.sampled_from(ALL), st.randoms(use_true_random=False))
def test_it_agrees_with_scipy_and_heeds_no_order(
    pairs: list[tuple[float, float]], measure: Measure, random: Random
) -> None:
    xs, ys = zip(*pairs, strict=True)
    found = measure(xs, ys)
    assert found.value == pytest.approx(THEIRS[found.method](xs, ys), abs=1e-9)
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert measure(*zip(*shuffled, strict=True)) == found
    assert measure(ys, xs).value == pytest.approx(found.value, abs=1e-12)


def noisy(n: int, seed: int, slope: float = 0.6) -> tuple[list[float], list[float]]:
    """Graded scores in steps of 0.2 that follow labels of 0 and 1 loosely."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    scores = np.clip(np.round((slope * labels + rng.normal(0.2, 0.4, n)) * 5) / 5, 0, 1)
    return scores.tolist(), labels.tolist()


def test_the_interval_is_near_fishers() -> None:
    rng = np.random.default_rng(2)
    xs = rng.normal(size=400)
    ys = xs + rng.normal(size=400)
    found = pearson(xs.tolist(), ys.tolist(), rng=np.random.default_rng(3))
    radius = stats.norm.ppf(0.975) / math.sqrt(400 - 3)
    expected = (math.tanh(math.atanh(value(found)) - radius), math.tanh(math.atanh(value(found)) + radius))
    assert interval(found) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("measure", ALL)
def test_where_more_than_a_twentieth_of_resamples_lack_a_coefficient_there_is_no_interval(measure: Measure) -> None:
    """One right answer among twelve is missing from (11/12)**12 = 35 % of resamples, four from (2/3)**12 = 0.8 %."""
    scores, one, four = list(range(12)), [0] * 11 + [1], [0] * 8 + [1] * 4
    found = measure(scores, one, rng=np.random.default_rng(1), resamples=4000)
    assert found.n_resamples == 4000
    assert found.n_resamples_undefined / 4000 == pytest.approx(0.352, abs=0.03)
    assert (found.low, found.high) == (None, None)
    found = measure(scores, four, rng=np.random.default_rng(1), resamples=4000)
    assert found.n_resamples_undefined / 4000 == pytest.approx(0.008, abs=0.006)
    low, high = interval(found)
    assert 0 < low < high <= 1


@pytest.mark.parametrize("measure", ALL)
def test_fewer_than_ten_clusters_have_no_interval(measure: Measure) -> None:
    """phi of one exact match among five, all but two right, is .408; by Fisher's interval it says nothing."""
    matches, labels = [1, 0, 0, 0, 0], [1, 1, 1, 0, 0]
    found = measure(matches, labels, rng=np.random.default_rng(1))
    assert found.value == pytest.approx(stats.pearsonr(matches, labels).statistic)
    assert found.value == pytest.approx(0.408, abs=0.0005)
    assert (found.low, found.high, found.n_resamples) == (None, None, 0)
    scores, right = noisy(40, seed=3)
    nine, ten = ([min(place // 4, last) for place in range(40)] for last in (8, 9))
    assert measure(scores, right, clusters=nine, rng=np.random.default_rng(1)).interval is None
    assert measure(scores, right, clusters=ten, rng=np.random.default_rng(1)).interval is not None
    assert measure(scores, right, clusters=ten).interval is None
