from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.figure import Undefined
from factloop.evaluation.mixedqa.views.correlation_figures import (
    Axis,
    coefficient,
    interval,
    outcome,
    resampling,
)
from factloop.evaluation.statistics.correlation import Correlation, Method


def correlation(value: float | None = 0.3126, **changes: Any) -> Correlation:
    given: dict[str, Any] = {"method": Method.PEARSON, "value": value, "n": 998, "n_clusters": 998}
    return Correlation(**{**given, **changes})


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.3126, "0.313"), (-0.0751, "-0.075"), (1.0, "1.000"), (-0.0004, "0.000"), (-0.0006, "-0.001"), (None, "–")],
)
def test_a_coefficient_has_three_digits(value: float | None, expected: str) -> None:
    assert coefficient(value) == expected


def test_what_is_undefined_is_said_so() -> None:
    assert outcome(correlation()) == "0.313"
    assert outcome(correlation(None, undefined=Undefined.CONSTANT)) == "undefined (constant)"
    assert outcome(correlation(None, undefined=Undefined.TOO_FEW)) == "undefined (too few)"


def test_an_interval_has_two_ends_or_is_none() -> None:
    assert interval(correlation(low=-0.02, high=0.4)) == "[-0.020, 0.400]"
    assert interval(correlation(None, undefined=Undefined.CONSTANT)) == "–"


def test_an_interval_that_is_withheld_says_why() -> None:
    """One match among five questions: (4/5)**5 of the resamples lack it. 100 of 2,000 is a twentieth, 101 is more."""
    assert interval(correlation(n=5, n_clusters=5)) == "none: 5 questions"
    lost = correlation(n_resamples=2000, n_resamples_undefined=101)
    assert interval(lost) == "none: undefined in 5.05% of resamples"
    assert interval(correlation(n_resamples=2000, n_resamples_undefined=100)) == "none: nothing varies"
    assert interval(correlation()) == "none: nothing drawn"


def test_the_resampling_is_told_in_a_sentence() -> None:
    drawn = correlation(low=0.1, high=0.5, n_resamples=2000, n_resamples_undefined=3)
    assert resampling([correlation()]) == "There are no intervals: they take 10 questions."
    withheld = correlation(n_resamples=2000, n_resamples_undefined=807)
    none = "There is none with fewer than 10 questions"
    rule = f"{none}, or where more than a twentieth of the resamples have no coefficient."
    assert resampling([correlation(), drawn, withheld]) == (
        f"95% intervals by 2,000 resamples of whole questions; up to 3 without a coefficient are left out. {rule}"
    )


def test_the_axis_by_hand() -> None:
    """From -0.13 down to -0.25, from 0.52 up to 0.75: four steps, so zero stands at a quarter."""
    axis = Axis.around([correlation(0.3, low=-0.13, high=0.45)], [0.52, None])
    assert (axis.low, axis.high, axis.marks) == (-0.25, 0.75, (-0.25, 0.0, 0.25, 0.5, 0.75))
    assert [axis.at(value) for value in (-0.25, 0.0, 0.3, 0.75)] == ["0.00%", "25.00%", "55.00%", "100.00%"]


def test_an_axis_without_anything_to_draw_has_zero_on_it() -> None:
    axis = Axis.around([correlation(None, undefined=Undefined.CONSTANT)], [])
    assert axis.marks == (0.0, 0.25)


@given(st.lists(st.tuples(*[st.floats(-1, 1)] * 3).map(sorted)), st.lists(st.floats(-1, 1) | st.none()))
def test_all_that_is_drawn_lies_on_the_axis(found: list[list[float]], published: list[float | None]) -> None:
    drawn = [correlation(value, low=low, high=high) for low, value, high in found]
    axis = Axis.around(drawn, published)
    assert -1.0 <= axis.low <= 0.0 < axis.high <= 1.0
    values = [0.0, *(value for triple in found for value in triple), *(p for p in published if p is not None)]
    assert all(0.0 <= float(axis.at(value).removesuffix("%")) <= 100.0 for value in values)
