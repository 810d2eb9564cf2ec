"""Adjusted error rates by hand, against exhaustive search and scikit-learn, and as published."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score  # type: ignore[import-untyped]  # has no type hints

from factloop.evaluation.audit.adjustment import adjust, adjusted_rate, mean_adjustment
from factloop.evaluation.audit.adjustment_records import (
    FEWEST,
    Adjustment,
    AdjustmentMethod,
    AdjustmentReport,
    CalibrationWarning,
    MethodMean,
    UnadjustedReason,
)
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.sorted_scores import SortedScores, balanced_threshold, unbiased_threshold
from factloop.evaluation.audit.views.adjustment_sheets import adjustment
from factloop.evaluation.audit.views.scope import Scope
from tests.evaluation.audit.audit_sample import audited
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


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_rate_that_the_two_rates_make_is_recovered(rate: float, true_rate: float, false_rate: float) -> None:
    if abs(true_rate - false_rate) > 1e-3:
        flagged = rate * true_rate + (1 - rate) * false_rate
        assert adjusted_rate(flagged, true_rate, false_rate) == pytest.approx(rate, abs=1e-9)


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


BESPOKE = {  # Godbole & Jia, Table 27: labelled and predicted error rates of Bespoke-7B on RAGTruth, and in Table 31
    "CNN/DM": (  # the mean and worst bias without adjustment when each system in turn is calibrated on
        (("gpt-3.5", 0.8, 2.1), (4.5, 6.1)),
        (("gpt-4", 1.9, 4.9), (4.1, 6.1)),
        (("llama-70b", 4.8, 10.9), (3.5, 6.1)),
        (("llama-13b", 9.6, 15.7), (3.5, 6.1)),
        (("llama-7b", 13.5, 17.9), (3.8, 6.1)),
        (("mistral", 13.5, 16.2), (4.2, 6.1)),
    ),
    "Yelp": (
        (("gpt-3.5", 2.7, 7.0), (17.6, 31.2)),
        (("gpt-4", 3.5, 9.9), (17.1, 31.2)),
        (("llama-70b", 19.5, 50.8), (12.2, 22.2)),
        (("mistral", 21.7, 29.7), (16.8, 31.2)),
        (("llama-7b", 24.5, 46.7), (14.0, 31.2)),
        (("llama-13b", 26.7, 46.7), (14.4, 31.2)),
    ),
}


@pytest.mark.parametrize("source", list(BESPOKE))
def test_bias_without_adjustment_is_as_published(source: str) -> None:
    """The published rates have one digit, so that biases are off by up to 0.1 point."""
    rows: list[Row] = []
    for (name, labelled, predicted), _ in BESPOKE[source]:
        errors, flagged = round(labelled * 10), round(predicted * 10)
        rows += [Row(int(k >= errors), {E: float(k >= flagged)}, name, f"r{k}") for k in range(1000)]
    report = adjust(table_of(rows), E, "d")
    for (name, *_), published in BESPOKE[source]:
        plain = found_by(report, name, M.UNADJUSTED)
        assert plain.mean_bias is not None
        assert plain.worst_bias is not None
        assert (100 * plain.mean_bias, 100 * plain.worst_bias) == pytest.approx(published, abs=0.101)
    published_mean = {"CNN/DM": (3.9, 6.1), "Yelp": (15.4, 29.7)}[source]  # Table 1, cross-validated
    mean = mean_of(report, M.UNADJUSTED)
    assert mean.mean_bias is not None
    assert mean.worst_bias is not None
    assert (100 * mean.mean_bias, 100 * mean.worst_bias) == pytest.approx(published_mean, abs=0.101)
    assert mean.n_calibrations == 6
    assert {found_by(report, "mistral", method).undefined for method in (M.ZERO_BIAS, M.BALANCED_ACCURACY)} == {
        UnadjustedReason.LABELS_ONLY
    }


def test_estimates_beyond_0_and_1_are_cut_and_counted() -> None:
    """Flagged .3 of errors and .2 of others on a; .9 of b's claims are flagged: (.9 - .2) / .1 = 7, cut to 1."""
    rows = system("a", {(0, 0.0): 30, (0, 1.0): 70, (1, 0.0): 20, (1, 1.0): 80})
    rows += system("b", {(0, 0.0): 90, (1, 1.0): 10}) + system("c", {(0, 1.0): 10, (1, 1.0): 90})
    found = found_by(adjust(table_of(rows), E, "d"), "a", M.ADJUSTED_COUNTS)
    assert found.estimates == {"b": 1.0, "c": 0.0}
    assert found.n_cut == 2
    assert found.worst_bias == pytest.approx(0.1)


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
    assert set(clean.warnings) == {CalibrationWarning.FEW_ERRORS, CalibrationWarning.NOT_TOLD_APART}


def test_predictions_that_say_nothing_give_no_adjusted_counts() -> None:
    rows = system("a", {(0, 0.0): 20, (0, 1.0): 20, (1, 0.0): 20, (1, 1.0): 20}) + system("b", {(1, 1.0): 5})
    report = adjust(table_of(rows), E, "d")
    assert found_by(report, "a", M.ADJUSTED_COUNTS).undefined is UnadjustedReason.EQUAL_RATES
    found = next(one for one in report.calibrations if one.system == "a")
    assert found.warnings == (CalibrationWarning.NOT_TOLD_APART,)


@pytest.mark.parametrize(("n_errors", "warned"), [(FEWEST - 1, True), (FEWEST, False)])
def test_a_calibration_with_hardly_an_error_is_warned_of(n_errors: int, warned: bool) -> None:
    rows = system("a", {(0, 0.1): n_errors, (1, 0.9): 500}) + system("b", {(0, 0.1): 100, (1, 0.9): 400})
    found = next(one for one in adjust(table_of(rows), E, "d").calibrations if one.system == "a")
    assert (CalibrationWarning.FEW_ERRORS in found.warnings) is warned
    assert CalibrationWarning.NOT_TOLD_APART not in found.warnings


def drawn(name: str, share: float, n: int, rng: np.random.Generator) -> list[Row]:
    """Claims of which this share are errors; six of ten errors are flagged, and eight of a hundred others."""
    is_error = rng.random(n) < share
    flagged = rng.random(n) < np.where(is_error, 0.6, 0.08)
    return [Row(1 - int(is_error[k]), {E: 1.0 - int(flagged[k])}, name, f"r{k}") for k in range(n)]


def test_the_warning_is_earned() -> None:
    """As in Table 31: adjusted by a system of few errors the estimates get worse, by another one better."""
    rng = np.random.default_rng(2)
    biases: dict[str, list[float]] = {"best": [], "c": [], "none": []}
    for _ in range(30):
        rows = drawn("best", 0.02, 150, rng) + drawn("b", 0.2, 1000, rng) + drawn("c", 0.3, 1000, rng)
        report = adjust(table_of(rows), E, "d")
        warned = [one.system for one in report.calibrations if CalibrationWarning.FEW_ERRORS in one.warnings]
        assert warned == ["best"]
        for name in ("best", "c"):
            biases[name].append(found_by(report, name, M.ADJUSTED_COUNTS).mean_bias or 0.0)
        biases["none"].append(found_by(report, "best", M.UNADJUSTED).mean_bias or 0.0)
    best, other, none = (float(np.mean(found)) for found in biases.values())
    assert other < none < best


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


@given(SCORED, st.floats(0, 1))
def test_sorted_scores_count_what_a_threshold_flags(scored: list[tuple[int, float]], threshold: float) -> None:
    own = SortedScores.of(np.asarray([one[1] for one in scored]), np.asarray([one[0] == 0 for one in scored]))
    flagged = [label for label, score in scored if score < threshold]
    assert own.flagged(threshold) == len(flagged)
    assert (own.flagged_errors(threshold), own.flagged_others(threshold)) == (flagged.count(0), flagged.count(1))
    assert (own.n, own.n_errors + own.n_others) == (len(scored), len(scored))


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, float(np.nextafter(1.0, 0.0))])
def test_all_or_none_can_be_flagged_whatever_the_scores(value: float) -> None:
    for is_error, flagged in ((True, 3), (False, 0)):
        own = SortedScores.of(np.full(3, value), np.full(3, is_error))
        assert own.flagged(unbiased_threshold(own)) == flagged


@pytest.mark.parametrize(("low", "high"), [(np.nextafter(0.5, 0.0), 0.5), (0.5, np.nextafter(0.5, 1.0))])
def test_neighbouring_floats_are_parted(low: float, high: float) -> None:
    neighbours = SortedScores.of(np.asarray([low, high]), np.asarray([True, False]))
    assert neighbours.flagged(unbiased_threshold(neighbours)) == 1


def test_of_equally_good_thresholds_the_one_nearest_to_a_half_is_taken() -> None:
    rising = SortedScores.of(np.asarray([0.1, 0.7, 0.7]), np.asarray([True, True, False]))
    assert unbiased_threshold(rising) == pytest.approx(0.4)  # flags one too few, .85 one too many
    falling = SortedScores.of(np.asarray([0.3, 0.3, 0.9]), np.asarray([True, False, False]))
    assert unbiased_threshold(falling) == pytest.approx(0.6)  # one too many, 0 one too few


TABLES = st.lists(
    st.builds(
        lambda label, score, name: Row(label, {E: score}, name),
        st.integers(0, 1),
        st.sampled_from([0.0, 0.2, 0.4, 0.5, 0.8, 1.0, None]),
        st.sampled_from("abc"),
    ),
    min_size=1,
    max_size=60,
)


@given(TABLES, st.randoms(use_true_random=False))
def test_neither_order_nor_copies_change_an_estimate(rows: list[Row], random: Random) -> None:
    report = adjust(table_of(rows), E, "d")
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert adjust(table_of(shuffled), E, "d") == report
    twice = adjust(table_of(rows + rows), E, "d")
    assert [(one.mean_bias, one.worst_bias) for one in twice.methods] == [
        (one.mean_bias, one.worst_bias) for one in report.methods
    ]
    for calibration in report.calibrations:
        for found in calibration.adjustments:
            assert found.undefined is not None or 0 <= (found.mean_bias or 0) <= (found.worst_bias or 0) + 1e-12
            assert calibration.system not in found.estimates


def test_a_method_with_fewer_trials_stands_beside_its_own_unadjusted_figure() -> None:
    """a has no claim that holds: it cannot serve for adjusted counts.

    On a: b is flagged .4 and has .2 errors, off by .2. On b: a is flagged .9 and has nothing but errors, off by .1.
    """
    rows = system("a", {(0, 0.2): 9, (0, 0.9): 1})
    rows += system("b", {(0, 0.2): 2, (1, 0.2): 2, (1, 0.9): 6})
    report = adjust(table_of(rows), E, "d")
    plain, counts = mean_of(report, M.UNADJUSTED), mean_of(report, M.ADJUSTED_COUNTS)
    assert (plain.n_calibrations, plain.mean_bias, plain.worst_bias, plain.largest_bias) == pytest.approx(
        (2, 0.15, 0.15, 0.2)
    )
    assert (counts.n_calibrations, counts.unadjusted_mean_bias, counts.unadjusted_largest_bias) == pytest.approx(
        (1, 0.1, 0.1)
    )
    average = mean_adjustment(Group(kind="all"), [report, report])
    assert average.methods[0].largest_bias == pytest.approx(0.2)
    scope = Scope(audited(rows).at[0], Group(kind="dataset", name="d"))
    (line,) = adjustment(scope).lines
    # adjusted counts on b: (.9 - .25) / (1 - .25) = .867 of a's 1.0
    assert [(cell.text, cell.note) for cell in line.cells[1:3]] == [
        ("15.0", "worst 20.0"),
        ("13.3", "worst 13.3; 1 trial, unadjusted 10.0"),
    ]
