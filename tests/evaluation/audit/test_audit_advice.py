"""Advice on constructed evaluators: each figure decides its use by its limits, if it rests on enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.evaluation.audit.advice import CRITERIA, Finding, advise
from factloop.evaluation.audit.report import Advice, Leave, Measure, Reason, Use

M, R = Measure, Reason
GOOD = {
    M.TPR: Finding(0.916, 1405, 0.9, 0.93),
    M.TNR: Finding(0.85, 408, 0.81, 0.88),
    M.BALANCED_ACCURACY: Finding(0.883, 1813, 0.86, 0.9),
    M.MEAN_BIAS: Finding(0.011, 6),
    M.HEADROOM_BIAS: Finding(0.01, 6, 0.0, 0.015),
    M.WRONG_PAIRS: Finding(1 / 15, 15),
    M.REVERSED_PAIRS: Finding(0.0, 15),
    M.FOUND_PAIRS: Finding(0.875, 8),
    M.TAU: Finding(0.867, 6),
    M.LOST_ACROSS_CHUNKS: Finding(0.031, 900, 0.02, 0.045),
    M.TPR_DROP: Finding(0.056, 200),
    M.TPR_LEAST_SIMILAR: Finding(0.86, 200),
    M.TNR_LEAST_SIMILAR: Finding(0.9, 90),
    M.TNR_DROP: Finding(0.05, 70),
    M.TNR_MOST_SIMILAR: Finding(0.80, 70),
    M.TPR_MOST_SIMILAR: Finding(0.95, 300),
}
NOTHING_APART = {M.FOUND_PAIRS: Finding(None, 0)}


def on(use: Use, changes: dict[Measure, Finding]) -> Advice:
    return next(advice for advice in advise({**GOOD, **changes}) if advice.use is use)


def test_a_good_evaluator_may_be_used_for_everything_and_nothing_measured_for_nothing() -> None:
    advice = advise(GOOD)
    assert [(one.use, one.leave, one.reason) for one in advice] == [(use, Leave.YES, R.WITHIN_LIMITS) for use in Use]
    shown = {each.measure for one in advice for each in one.figures}
    assert shown == {one.measure for criteria in CRITERIA.values() for one in criteria}
    (bias,) = on(Use.ERROR_RATE, {}).figures
    assert (bias.value, bias.n, bias.good, bias.poor) == (0.011, 6, 0.02, 0.05)
    assert {(one.leave, one.reason, one.figures) for one in advise({})} == {(Leave.UNKNOWN, R.NOT_MEASURED, ())}


@pytest.mark.parametrize(
    ("use", "changes", "leave", "reason"),
    [
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.81, 408, 0.77, 0.85)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.525, 408)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.FILTER_CLAIMS, {M.TPR: Finding(0.3, 408)}, Leave.NO, R.BEYOND_LIMITS),
        # 22 of 40 and 220 of 400 have the same rate, but not the same interval; likewise 30 of 40 and 300 of 400
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.55, 40, 0.398, 0.693)}, Leave.UNKNOWN, R.WIDE_INTERVAL),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.55, 400, 0.501, 0.598)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.75, 40, 0.598, 0.858)}, Leave.UNKNOWN, R.WIDE_INTERVAL),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.75, 400, 0.705, 0.790)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(0.6, 408)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(1.0, 29)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.FILTER_CLAIMS, {M.TNR: Finding(1.0, 80, n_clusters=9)}, Leave.UNKNOWN, R.TOO_FEW_CLUSTERS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.03, 6)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.01, 6, 0.0, 0.03)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.06, 6, 0.0, 0.12)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.09, 6, 0.051, 0.12)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.ERROR_RATE, {M.MEAN_BIAS: Finding(0.0, 2)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.HEADROOM, {M.HEADROOM_BIAS: Finding(0.123, 6)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.WRONG_PAIRS: Finding(0.2, 15)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.WRONG_PAIRS: Finding(1 / 3, 15)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.REVERSED_PAIRS: Finding(1 / 15, 15)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.FOUND_PAIRS: Finding(0.75, 8)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.FOUND_PAIRS: Finding(0.375, 8)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.FOUND_PAIRS: Finding(0.0, 4)}, Leave.WITH_CARE, R.FEW_DIFFERENCES),
        (Use.COMPARE_SYSTEMS, NOTHING_APART, Leave.UNKNOWN, R.NO_DIFFERENCES),
        (Use.COMPARE_SYSTEMS, {**NOTHING_APART, M.WRONG_PAIRS: Finding(0.4, 15)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COMPARE_SYSTEMS, {M.WRONG_PAIRS: Finding(0.0, 6)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.RANK_SYSTEMS, {M.FOUND_PAIRS: Finding(0.2, 4)}, Leave.WITH_CARE, R.FEW_DIFFERENCES),
        (Use.RANK_SYSTEMS, {M.FOUND_PAIRS: Finding(0.2, 9)}, Leave.YES, R.WITHIN_LIMITS),
        (Use.RANK_SYSTEMS, {**NOTHING_APART, M.TAU: Finding(-1.0, 6)}, Leave.UNKNOWN, R.NO_DIFFERENCES),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(0.6, 6)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(-0.2, 6, -0.8, 0.4)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(0.4, 6, -0.1, 0.7)}, Leave.UNKNOWN, R.WIDE_INTERVAL),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(1.0, 4)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.RANK_SYSTEMS, {M.TAU: Finding(None, 6)}, Leave.UNKNOWN, R.UNDEFINED),
        (Use.LONG_DOCUMENTS, {M.LOST_ACROSS_CHUNKS: Finding(0.07, 900)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.LONG_DOCUMENTS, {M.LOST_ACROSS_CHUNKS: Finding(0.21, 900)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.LONG_DOCUMENTS, {M.TNR: Finding(0.5, 408)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.LONG_DOCUMENTS, {M.TNR: Finding(0.65, 408)}, Leave.YES, R.WITHIN_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TPR_DROP: Finding(0.1, 200)}, Leave.YES, R.WITHIN_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TPR_DROP: Finding(0.136, 200)}, Leave.WITH_CARE, R.BETWEEN_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TPR_DROP: Finding(0.216, 200)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TNR_LEAST_SIMILAR: Finding(0.59, 90)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.PARAPHRASED_CLAIMS, {M.TPR_LEAST_SIMILAR: Finding(0.9, 12)}, Leave.UNKNOWN, R.TOO_FEW),
        (Use.COPIED_CLAIMS, {M.TNR_MOST_SIMILAR: Finding(0.5, 70)}, Leave.NO, R.BEYOND_LIMITS),
        (Use.COPIED_CLAIMS, {M.TNR_MOST_SIMILAR: Finding(None, 40)}, Leave.UNKNOWN, R.UNDEFINED),
    ],
)
def test_each_figure_decides_its_use(use: Use, changes: dict[Measure, Finding], leave: Leave, reason: Reason) -> None:
    advice = on(use, changes)
    assert (advice.leave, advice.reason) == (leave, reason)


@pytest.mark.parametrize(
    ("accuracy", "tnr", "leaves", "reason"),
    [
        (Finding(0.55, 1813, 0.48, 0.62), GOOD[M.TNR], {Leave.NO}, R.NOT_ABOVE_CHANCE),
        (Finding(0.5, 1813), GOOD[M.TNR], {Leave.NO}, R.NOT_ABOVE_CHANCE),
        (Finding(0.51, 1813), GOOD[M.TNR], {Leave.YES}, R.WITHIN_LIMITS),
        (Finding(0.9, 1813), Finding(0.85, 29), {Leave.UNKNOWN}, R.CHANCE_NOT_EXCLUDED),
    ],
)
def test_an_evaluator_no_better_than_chance_may_be_used_for_nothing(
    accuracy: Finding, tnr: Finding, leaves: set[Leave], reason: Reason
) -> None:
    advice = advise({**GOOD, M.BALANCED_ACCURACY: accuracy, M.TNR: tnr})
    assert {one.leave for one in advice} == leaves
    assert {one.reason for one in advice[1:]} == {reason}


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.2), st.integers(30, 500))
def test_a_better_or_surer_evaluator_is_never_allowed_less(one: float, other: float, width: float, n: int) -> None:
    caution = [Leave.NO, Leave.UNKNOWN, Leave.WITH_CARE, Leave.YES]

    def leave(value: float, reach: float) -> int:
        return caution.index(on(Use.FILTER_CLAIMS, {M.TNR: Finding(value, n, value - reach, value + reach)}).leave)

    low, high = sorted((one, other))
    assert leave(low, width) <= leave(high, width)
    assert (leave(high, 0.0) == 0) or leave(high, 0.0) >= leave(high, width)
