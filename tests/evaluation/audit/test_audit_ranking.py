from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency
from sklearn.metrics import balanced_accuracy_score  # type: ignore[import-untyped]  # has no type hints
from statsmodels.stats.proportion import proportions_ztest  # type: ignore[import-untyped]  # it ships no types

from factloop.core.figure import Undefined
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
    unbiased_threshold,
)
from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.ranking import Order, PairTest, Ranking, mean_ranking, rank_systems
from factloop.evaluation.audit.table import Level
from tests.evaluation.audit.prediction_rows import Row, table_of

E = "judge"


def rates(system: str, labelled: int, predicted: int, n: int = 100) -> list[Row]:
    return [Row(int(k >= labelled), {E: float(k >= predicted)}, system=system, response=f"r{k}") for k in range(n)]


def two_proportions(errors: tuple[int, int], totals: tuple[int, int]) -> float:
    return float(proportions_ztest(errors, totals)[1])


def cells(found: Ranking) -> list[list[int]]:
    counts = {(cell.labelled, cell.predicted): cell.n_pairs for cell in found.cells}
    return [[counts[row, column] for column in Order] for row in Order]


def test_pairs_without_prompts_by_hand() -> None:
    # z of 10 and 30 of 100: -.2 / sqrt(.2 * .8 * .02) = -3.54;
    # of 30 and 14: 2.73; of 10 and 12: -.45; of 12 and 30: -3.13; of 14 and 10: .87
    rows = rates("a", 10, 30) + rates("b", 30, 10) + rates("c", 12, 14)
    found = rank_systems(table_of(rows), E, "d")
    assert [(rate.system, rate.n, rate.labelled, rate.predicted) for rate in found.systems] == [
        ("a", 100, 0.10, 0.30),
        ("c", 100, 0.12, 0.14),
        ("b", 100, 0.30, 0.10),
    ]
    assert [(p.first, p.second, p.labelled, p.predicted, p.test) for p in found.pairs] == [
        ("a", "c", Order.SAME, Order.WORSE, PairTest.TWO_PROPORTIONS),
        ("a", "b", Order.BETTER, Order.WORSE, PairTest.TWO_PROPORTIONS),
        ("c", "b", Order.BETTER, Order.SAME, PairTest.TWO_PROPORTIONS),
    ]
    assert found.pairs[1].p_labelled == pytest.approx(two_proportions((10, 30), (100, 100)))
    assert cells(found) == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert (found.n_pairs, found.n_wrong, found.n_reversed) == (3, 3, 1)
    assert found.share_wrong == 1.0
    assert found.share_reversed == pytest.approx(1 / 3)
    assert found.kendall.value == pytest.approx(-1.0)  # .10 .12 .30 against .30 .14 .10
    expected = stats.pearsonr([0.10, 0.12, 0.30], [0.30, 0.14, 0.10]).statistic
    assert found.pearson.value == pytest.approx(expected)


def paired(errors: list[tuple[int, int]]) -> list[Row]:
    return [
        Row(1 - wrong, {E: 1.0}, system=system, response=f"p{k}", prompt=f"p{k}")
        for k, both in enumerate(errors)
        for system, wrong in zip("ab", both, strict=True)
    ]


@pytest.mark.parametrize("level", list(Level))
def test_shared_prompts_with_one_claim_each_are_mcnemars_test(level: Level) -> None:
    rows = paired([(0, 1)] * 9 + [(1, 0)] * 1 + [(1, 1)] * 30 + [(0, 0)] * 30)
    (pair,) = rank_systems(table_of(rows), E, "d", level=level).pairs
    assert (pair.test, pair.n_prompts, pair.labelled) == (PairTest.PAIRED, 70, Order.BETTER)
    assert pair.p_labelled == pytest.approx(stats.binomtest(1, 10).pvalue)  # 22 / 1024
    assert pair.p_labelled == pytest.approx(22 / 1024)
    assert (pair.p_predicted, pair.predicted) == (1.0, Order.SAME)  # nothing flagged
    assert two_proportions((31, 39), (70, 70)) > 0.05  # which ignores that hard prompts are hard for both


def test_systems_that_hardly_share_prompts_count_as_independent() -> None:
    own = [Row(k % 2, {E: 1.0}, system=s, response=f"{s}{k}", prompt=f"{s}{k}") for s in "ab" for k in range(60)]
    assert rank_systems(table_of(paired([(0, 1)] * 50) + own), E, "d").pairs[0].test is PairTest.TWO_PROPORTIONS
    assert rank_systems(table_of(paired([(0, 1)] * 5)), E, "d").pairs[0].test is PairTest.TWO_PROPORTIONS
    assert rank_systems(table_of(paired([(0, 1)] * 6)), E, "d").pairs[0].test is PairTest.PAIRED


def test_claims_of_one_response_are_no_independent_ones() -> None:
    """Ten responses of ten claims each, wholly right or wrong: 3 of 10 against 8 of 10, z -2.25, is p .025; 30 of 100
    against 80 of 100, z -7.1, would be 1e-12."""
    rows = [
        Row(int(place >= wrong), {E: 1.0}, system, f"{system}{place}")
        for system, wrong in (("a", 3), ("b", 8))
        for place in range(10)
        for _ in range(10)
    ]
    (pair,) = rank_systems(table_of(rows), E, "d").pairs
    assert (pair.test, pair.labelled) == (PairTest.CLUSTERED, Order.BETTER)
    assert pair.p_labelled == pytest.approx(two_proportions((3, 8), (10, 10)))
    (named,) = rank_systems(table_of(rows), E, "d", unpaired=PairTest.TWO_PROPORTIONS).pairs
    assert named.test is PairTest.TWO_PROPORTIONS
    assert named.p_labelled == pytest.approx(two_proportions((30, 80), (100, 100)), rel=1e-6)
    prompts = [replace(row, prompt=f"{row.system}{int(row.response[1:]) // 2}") for row in rows]
    (by_prompt,) = rank_systems(table_of(prompts), E, "d", level=Level.RESPONSE).pairs
    assert by_prompt.test is PairTest.CLUSTERED


def test_what_cannot_be_compared_is_undefined() -> None:
    alone = rank_systems(table_of(rates("a", 10, 20)), E, "d")
    assert (alone.share_wrong, alone.share_reversed, alone.n_pairs) == (None, None, 0)
    assert alone.kendall.undefined is Undefined.TOO_FEW
    unscored = rank_systems(table_of([Row(1, {E: None}), Row(0, {E: None}, system="b")]), E, "d")
    assert (unscored.systems, unscored.n_pairs, unscored.n_left_out) == ((), 0, 2)
    same = rank_systems(table_of(rates("a", 10, 20) + rates("b", 10, 30) + rates("c", 10, 40)), E, "d")
    assert same.kendall.undefined is Undefined.CONSTANT
    with pytest.raises(ValueError, match="contain the evaluator"):
        rank_systems(table_of(rates("a", 1, 2)), "other", "d")
    with pytest.raises(ValueError, match="contain the data set"):
        rank_systems(table_of(rates("a", 1, 2)), E, "other")


def test_means_leave_out_what_is_undefined_and_say_so() -> None:
    three = rank_systems(table_of(rates("a", 10, 30) + rates("b", 30, 10) + rates("c", 12, 14)), E, "d")
    two = rank_systems(table_of(rates("a", 10, 10) + rates("b", 40, 40)), E, "d")
    one = rank_systems(table_of(rates("a", 10, 10)), E, "d")
    mean = mean_ranking(Group(kind="task", name="qa"), [three, two, one])
    assert (mean.share_wrong, mean.n_datasets, mean.n_pairs) == (0.5, 2, 4)
    assert mean.kendall == pytest.approx(-1.0)
    assert mean.n_kendall == 1
    assert mean_ranking(Group(kind="all"), [one]).share_wrong is None
    with pytest.raises(ValueError, match="same evaluator"):
        mean_ranking(Group(kind="all"), [])
    with pytest.raises(ValueError, match="same evaluator"):
        mean_ranking(Group(kind="all"), [one, rank_systems(table_of(rates("a", 1, 1)), E, "d", level=Level.RESPONSE)])


M = AdjustmentMethod


def system(name: str, scored: dict[tuple[int, float], int], dataset: str = "d") -> list[Row]:
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
    with pytest.raises(ValueError, match="both rates are equal"):
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
    with pytest.raises(ValueError, match="contain the data set"):
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
