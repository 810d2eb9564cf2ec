"""Adjusted error rates by hand, against exhaustive search and scikit-learn, and as published."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score  # type: ignore[import-untyped]  # has no type hints

from factloop.evaluation.audit.adjustment import (
    FEWEST,
    Adjustment,
    AdjustmentMethod,
    AdjustmentReport,
    CalibrationWarning,
    MethodMean,
    SortedScores,
    UnadjustedReason,
    adjust,
    adjusted_rate,
    balanced_threshold,
    mean_adjustment,
    unbiased_threshold,
)
from factloop.evaluation.audit.figures import Group
from tests.evaluation.audit.prediction_rows import Row, table_of

E = "judge"
M = AdjustmentMethod


def system(name: str, scored: dict[tuple[int, float], int], dataset: str = "d") -> list[Row]:
    """So many claims of each label and score."""
    cells = [cell for cell, times in scored.items() for _ in range(times)]
    return [Row(label, {E: score}, name, f"r{k}", dataset=dataset) for k, (label, score) in enumerate(cells)]


def found_by(report: AdjustmentReport, name: str, method: AdjustmentMethod) -> Adjustment:
    return next(one for one in report.calibrations if one.system == name).by(method)


def mean_of(report: AdjustmentReport, method: AdjustmentMethod) -> MethodMean:
    return next(one for one in report.methods if one.method is method)


def test_adjusted_counts_by_hand() -> None:
    assert adjusted_rate(0.30, 0.8, 0.1) == pytest.approx(0.2 / 0.7)
    assert adjusted_rate(0.05, 0.8, 0.1) == 0.0
    assert adjusted_rate(0.90, 0.8, 0.1) == 1.0
    assert adjusted_rate(0.30, 0.1, 0.8) == pytest.approx(0.5 / 0.7)  # worse than chance: turned round
    with pytest.raises(ValueError, match="equal rates"):
        adjusted_rate(0.3, 0.5, 0.5)


def test_every_method_by_hand() -> None:
    """a: 40 errors, of which 30 are flagged, and 60 others, of which 6 are; b has the same rates and 20 errors."""
    rows = system("a", {(0, 0.2): 30, (0, 0.7): 10, (1, 0.3): 6, (1, 0.9): 54})
    rows += system("b", {(0, 0.2): 15, (0, 0.7): 5, (1, 0.3): 8, (1, 0.9): 72})
    report = adjust(table_of(rows), E, "d")
    assert [(one.system, one.labelled, one.n_errors, one.n_attributable) for one in report.calibrations] == [
        ("b", 0.2, 20, 80),
        ("a", 0.4, 40, 60),
    ]
    on_a = report.calibrations[1]
    assert (on_a.true_rate, on_a.false_rate, on_a.warnings) == (0.75, 0.1, ())
    plain = on_a.by(M.UNADJUSTED)
    assert plain.estimates == {"b": 0.23}
    assert plain.worst_bias == pytest.approx(0.03)
    counts = on_a.by(M.ADJUSTED_COUNTS)  # (.23 - .1) / (.75 - .1) = .2
    assert counts.estimates == {"b": pytest.approx(0.2)}
    assert counts.mean_bias == pytest.approx(0.0)
    # flagged on a: 0 | 30 below .25 | 36 below .5 | 46 below .8 | 100, against 40 errors: 36 is nearest
    zero = on_a.by(M.ZERO_BIAS)
    assert zero.threshold == pytest.approx(0.5)
    assert zero.estimates == {"b": 0.23}
    # balanced accuracy .5 | (.75 + 1) / 2 | (.75 + .9) / 2 | (1 + .9) / 2 | .5
    balanced = on_a.by(M.BALANCED_ACCURACY)
    assert balanced.threshold == pytest.approx(0.8)
    assert balanced.estimates == {"b": 0.28}
    assert balanced.mean_bias == balanced.worst_bias == pytest.approx(0.08)
    assert CalibrationWarning.FEW_ERRORS in report.calibrations[0].warnings  # 20 < 25


def test_a_calibration_that_lacks_a_kind_is_undefined_and_left_out_of_means() -> None:
    rows = system("clean", {(1, 0.9): 40, (1, 0.4): 10}) + system("wrong", {(0, 0.2): 40, (0, 0.6): 10})
    rows += system("mixed", {(0, 0.2): 30, (0, 0.6): 10, (1, 0.9): 50, (1, 0.4): 10})
    report = adjust(table_of(rows), E, "d")
    for method in (M.ADJUSTED_COUNTS, M.BALANCED_ACCURACY):
        assert found_by(report, "clean", method).undefined is UnadjustedReason.NO_ERRORS
        assert found_by(report, "wrong", method).undefined is UnadjustedReason.NO_ATTRIBUTABLE
        mean, only = mean_of(report, method), found_by(report, "mixed", method)
        assert (mean.n_calibrations, mean.n_undefined, mean.mean_bias) == (1, 2, only.mean_bias)
        assert mean.unadjusted_mean_bias == found_by(report, "mixed", M.UNADJUSTED).mean_bias
    assert mean_of(report, M.ZERO_BIAS).n_calibrations == 3
    clean = next(one for one in report.calibrations if one.system == "clean")
    assert (clean.true_rate, clean.false_rate, clean.labelled) == (None, 0.2, 0.0)
    blind = system("a", {(0, 0.0): 20, (0, 1.0): 20, (1, 0.0): 20, (1, 1.0): 20}) + system("b", {(1, 1.0): 5})
    report = adjust(table_of(blind), E, "d")
    assert found_by(report, "a", M.ADJUSTED_COUNTS).undefined is UnadjustedReason.EQUAL_RATES
    assert set(clean.warnings) == {CalibrationWarning.FEW_ERRORS, CalibrationWarning.NOT_TOLD_APART}


@pytest.mark.parametrize(("n_errors", "warned"), [(FEWEST - 1, True), (FEWEST, False)])
def test_a_calibration_with_hardly_an_error_is_warned_of(n_errors: int, warned: bool) -> None:
    rows = system("a", {(0, 0.1): n_errors, (1, 0.9): 500}) + system("b", {(0, 0.1): 100, (1, 0.9): 400})
    found = next(one for one in adjust(table_of(rows), E, "d").calibrations if one.system == "a")
    assert (CalibrationWarning.FEW_ERRORS in found.warnings) is warned
    assert CalibrationWarning.NOT_TOLD_APART not in found.warnings


def test_one_system_or_no_score_gives_nothing_to_test() -> None:
    report = adjust(table_of(system("a", {(0, 0.1): 5, (1, 0.9): 5})), E, "d")
    assert report.calibrations == ()
    assert [(one.mean_bias, one.n_calibrations) for one in report.methods] == [(None, 0)] * 4
    rows = [Row(1, {E: None}), Row(0, {E: 0.2}), Row(0, {E: None}, system="b")]
    assert adjust(table_of(rows), E, "d").n_left_out == 2
    assert adjust(table_of(rows), E, "d").calibrations == ()
    with pytest.raises(ValueError, match="no data set"):
        adjust(table_of(rows), E, "other")


SCORED = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 0.9, 1.0]) | st.floats(0, 1)),
    min_size=1,
    max_size=25,
)


@given(SCORED)
def test_no_threshold_is_better_than_the_one_found(scored: list[tuple[int, float]]) -> None:
    labels, scores = np.asarray([one[0] for one in scored]), np.asarray([one[1] for one in scored])
    own = SortedScores.of(scores, labels == 0)
    every = [0.0, *scores.tolist(), float(np.nextafter(scores.max(), 2.0))]  # each way to part the scores

    def bias(threshold: float) -> float:
        return abs(float((scores < threshold).mean() - (labels == 0).mean()))

    assert bias(unbiased_threshold(own)) == pytest.approx(min(map(bias, every)), abs=1e-12)
    if 0 < labels.sum() < len(labels):

        def balanced(threshold: float) -> float:
            return float(balanced_accuracy_score(labels, scores >= threshold))

        assert balanced(balanced_threshold(own)) == pytest.approx(max(map(balanced, every)), abs=1e-12)


def test_of_equally_good_thresholds_the_one_nearest_to_a_half_is_taken() -> None:
    rising = SortedScores.of(np.asarray([0.1, 0.7, 0.7]), np.asarray([True, True, False]))
    assert unbiased_threshold(rising) == pytest.approx(0.4)  # flags one too few, .85 one too many
    falling = SortedScores.of(np.asarray([0.3, 0.3, 0.9]), np.asarray([True, False, False]))
    assert unbiased_threshold(falling) == pytest.approx(0.6)  # one too many, 0 one too few


def test_a_method_with_fewer_trials_stands_beside_its_own_unadjusted_figure() -> None:
    """a has no claim that holds: it cannot serve for adjusted counts.

    On a: b is flagged .4 and has .2 errors, off by .2. On b: a is flagged .9 and has nothing but errors, off by .1.
    """
    rows = system("a", {(0, 0.2): 9, (0, 0.9): 1})
    rows += system("b", {(0, 0.2): 2, (1, 0.2): 2, (1, 0.9): 6})
    report = adjust(table_of(rows), E, "d")
    plain, counts = mean_of(report, M.UNADJUSTED), mean_of(report, M.ADJUSTED_COUNTS)
    assert (plain.n_calibrations, plain.mean_bias, plain.worst_bias) == pytest.approx((2, 0.15, 0.15))
    assert (counts.n_calibrations, counts.unadjusted_mean_bias, counts.unadjusted_worst_bias) == pytest.approx(
        (1, 0.1, 0.1)
    )
    average = mean_adjustment(Group(kind="all"), [report, report])
    assert (average.methods[0].n_calibrations, average.methods[0].mean_bias) == pytest.approx((4, 0.15))
