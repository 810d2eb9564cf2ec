"""System pairs by labels against by predictions: hand-worked tables, published shares, and what must not matter."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency
from statsmodels.stats.proportion import proportions_ztest  # type: ignore[import-untyped]  # it ships no types

from factloop.core.figure import Undefined
from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.ranking import Order, PairTest, Ranking, mean_ranking, rank_systems
from factloop.evaluation.audit.table import Level
from factloop.evaluation.statistics.significance import PValueAdjustment
from tests.evaluation.audit.prediction_rows import Row, table_of

E = "judge"


def rates(system: str, labelled: int, predicted: int, n: int = 100) -> list[Row]:
    """`n` claims, each its own response, of which so many are labelled and predicted unattributable."""
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


def test_holm_and_bonferroni_hold_the_pairs_together() -> None:
    rows = rates("a", 10, 10) + rates("b", 19, 19) + rates("c", 30, 30)  # p of a-b .071, a-c .0004, b-c .070
    rows += rates("e", 22, 22)  # a-e .021, which four systems' six pairs carry off
    plain, held = (
        rank_systems(table_of(rows), E, "d", p_adjustment=correction)
        for correction in (PValueAdjustment.NONE, PValueAdjustment.HOLM)
    )
    assert {(p.first, p.second) for p in plain.pairs if p.labelled is Order.BETTER} == {("a", "e"), ("a", "c")}
    assert {(p.first, p.second) for p in held.pairs if p.labelled is Order.BETTER} == {("a", "c")}
    assert held.share_wrong == 0.0
    strict = rank_systems(table_of(rows), E, "d", alpha=0.0001)
    assert all(pair.labelled is Order.SAME for pair in strict.pairs)


def paired(errors: list[tuple[int, int]]) -> list[Row]:
    """One claim of each of two systems on each prompt."""
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
    with pytest.raises(ValueError, match="no evaluator"):
        rank_systems(table_of(rates("a", 1, 2)), "other", "d")
    with pytest.raises(ValueError, match="no data set"):
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
    with pytest.raises(ValueError, match="one evaluator"):
        mean_ranking(Group(kind="all"), [])
    with pytest.raises(ValueError, match="one evaluator"):
        mean_ranking(Group(kind="all"), [one, rank_systems(table_of(rates("a", 1, 1)), E, "d", level=Level.RESPONSE)])


ROWS = st.lists(
    st.builds(
        lambda label, score, system, prompt: Row(label, {E: score}, system, f"p{prompt}", f"p{prompt}"),
        st.integers(0, 1),
        st.sampled_from([0.0, 0.4, 0.5, 1.0, None]),
        st.sampled_from("abc"),
        st.integers(0, 12),
    ),
    min_size=1,
    max_size=120,
)


@given(ROWS)
def test_labels_as_predictions_order_every_pair_rightly(rows: list[Row]) -> None:
    perfect = [Row(r.label, {E: float(r.label)}, r.system, r.response, r.prompt) for r in rows]
    found = rank_systems(table_of(perfect), E, "d")
    assert found.n_wrong == 0
    assert found.kendall.value in (None, pytest.approx(1.0))
