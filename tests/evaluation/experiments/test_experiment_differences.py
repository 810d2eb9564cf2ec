"""Paired differences between variants: by hand, against scipy and statsmodels, and what must hold of all."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy.stats import norm, permutation_test, sem  # type: ignore[import-untyped]  # its stubs are no dependency
from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]  # it ships no types
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]  # it ships no types

from factloop.core.errors import DataError
from factloop.core.records import Verdict
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.differences import can_be_shown
from factloop.evaluation.experiments.records import JudgedClaim, Results
from factloop.evaluation.experiments.report import (
    ExperimentReport,
    FamilyAdjustment,
    Outcome,
    PairedDifference,
    Quantity,
)
from tests.evaluation.experiments.sample import Judge, claim, make_response_results, make_results, results_of

pytestmark = pytest.mark.usefixtures("frozen")

S, N, R, U = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT, None


def two(
    first: Sequence[Verdict | None],
    second: Sequence[Verdict | None],
    gold: Sequence[bool | None],
    groups: Sequence[str] | None = None,
) -> Results:
    """One repeat of two variants."""
    names = groups or [""] * len(gold)
    claims = [
        claim(variant, f"c{place:03}", verdict, gold=label, group=group)
        for variant, verdicts in (("packaged", first), ("strict", second))
        for place, (verdict, label, group) in enumerate(zip(verdicts, gold, names, strict=True))
    ]
    return results_of(claims)


def difference(report: ExperimentReport, quantity: Quantity, second: str = "strict") -> PairedDifference:
    return next(one for one in report.differences if (one.quantity, one.second) == (quantity, second))


def test_by_hand() -> None:
    """Gold + + + - - -. First S S N S N U, second S S S N N N.

    The last claim has no verdict of the first and is left out. Balanced accuracy of the pairs: first (2/3 + 1/2) / 2 =
    7/12, second 1; accuracy 3/5 and 1; the difference of balanced accuracy is made of 1/3/2 and 1/2/2, of two signs:
    all four sums but two reach 5/12, so p = 1/2.
    """
    report = assess(two((S, S, N, S, N, U), (S, S, S, N, N, N), (True, True, True, False, False, False)))
    one = difference(report, Quantity.BALANCED_ACCURACY)
    assert one.first_value == pytest.approx(7 / 12)
    assert (one.second_value, one.n, one.n_groups, one.n_left_out) == (1.0, 5, 5, 1)
    assert one.value == pytest.approx(5 / 12)
    assert one.p == pytest.approx(1 / 2)
    assert difference(report, Quantity.ACCURACY).value == pytest.approx(2 / 5)
    assert difference(report, Quantity.UNSCORED_SHARE).value == pytest.approx(-1 / 6)
    assert difference(report, Quantity.BIAS).value == pytest.approx(1 / 5 - 1 / 5)


def test_accuracy_of_independent_claims_is_mcnemars_test() -> None:
    rng = np.random.default_rng(0)
    first, second = ([S if one else N for one in rng.random(60) < rate] for rate in (0.6, 0.85))
    one = difference(assess(two(first, second, [True] * 60), resamples=0), Quantity.ACCURACY)
    table = np.zeros((2, 2))
    for mine, other in zip(first, second, strict=True):
        table[int(mine is S), int(other is S)] += 1
    wanted = mcnemar(table, exact=True).pvalue
    assert one.p_mcnemar == pytest.approx(wanted)
    assert one.p == pytest.approx(wanted)
    grouped = two(first, second, [True] * 60, [f"g{place // 2}" for place in range(60)])
    assert difference(assess(grouped, resamples=0), Quantity.ACCURACY).p_mcnemar is None, "claims of a group are alike"


def test_p_of_groups_is_scipys_paired_permutation_test() -> None:
    rng = np.random.default_rng(1)
    first, second = ([S if one else N for one in rng.random(30) < rate] for rate in (0.5, 0.8))
    groups = [f"g{place // 3:02}" for place in range(30)]
    one = difference(assess(two(first, second, [True] * 30, groups), resamples=0), Quantity.ACCURACY)
    sides = [np.array([sum(v is S for v in side[at : at + 3]) for at in range(0, 30, 3)]) for side in (first, second)]
    wanted = permutation_test(
        sides, lambda a, b: np.mean(b) - np.mean(a), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert one.p == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("p_adjustment", "method"),
    [(FamilyAdjustment.HOLM, "holm"), (FamilyAdjustment.BENJAMINI_HOCHBERG, "fdr_bh"), (FamilyAdjustment.NONE, None)],
)
def test_families_are_adjusted_apart(p_adjustment: FamilyAdjustment, method: str | None) -> None:
    report = assess(make_results(90), p_adjustment=p_adjustment, resamples=0, pairs="all")
    sizes = {family.name: family.n_tests for family in report.families}
    for is_headline in (True, False):
        family = [one for one in report.differences if one.is_headline is is_headline]
        assert len(family) == sizes["headline" if is_headline else "details"]
        p_values = [one.p for one in family if one.p is not None]
        wanted = p_values if method is None else list(multipletests(p_values, method=method)[1])
        held = [one.p_corrected for one in family if one.p_corrected is not None]
        assert len(held) == len(family)
        if p_adjustment is FamilyAdjustment.NONE:
            assert held == pytest.approx(wanted)
        else:  # tests that could not be so small do not count: nothing is larger, and what can be reached is the same
            assert all(mine <= most * (1 + 1e-9) for mine, most in zip(held, wanted, strict=True))
            assert max(held) == pytest.approx(max(wanted))
    assert sizes == {"headline": 3, "details": 24}


def test_variants_without_a_flip_do_not_hide_one_that_is_better() -> None:
    """Six of 20 false claims are called supported by the baseline, and by none of `strict`: p = 2/64 = 0.031.

    `short` and `idle` judge as the baseline does. Holm over three comparisons made 0.094 of it, "no difference shown".
    """
    gold = [True] * 20 + [False] * 20
    before = [S] * 26 + [N] * 14
    judged = {"packaged": before, "strict": [S] * 20 + [N] * 20, "short": before, "idle": before}
    claims = [
        claim(variant, f"c{place:03}", verdict, gold=label)
        for variant, verdicts in judged.items()
        for place, (verdict, label) in enumerate(zip(verdicts, gold, strict=True))
    ]
    report = assess(results_of(claims, names=tuple(judged)))
    better, *others = [one for one in report.differences if one.is_headline]
    assert (better.p, better.p_corrected, better.outcome) == (2 / 64, 2 / 64, Outcome.BETTER)
    assert better.value == pytest.approx(0.15)
    assert better.low is not None
    assert better.low >= 0.0
    assert better.level == pytest.approx(0.95)
    assert "after Holm’s adjustment for 1 of 3 tests" in better.words
    assert [one.outcome for one in others] == [Outcome.NOT_SHOWN] * 2
    assert next((one.n_tests, one.n_counted) for one in report.families) == (3, 1)


@pytest.mark.statistical
@pytest.mark.parametrize("p_adjustment", list(FamilyAdjustment))
def test_no_interval_excludes_0_beside_no_difference_shown(p_adjustment: FamilyAdjustment) -> None:
    """Over 20 experiments of four variants: where a difference is shown 0 is outside the interval, else inside."""
    judges = {"packaged": Judge(), "strict": Judge(tnr=0.97), "short": Judge(tpr=0.6), "same": Judge()}
    n_shown = n_not_shown = 0
    for seed in range(20):
        report = assess(make_results(60, judges=judges, seed=seed), p_adjustment=p_adjustment, resamples=1)
        for one in report.differences:
            if one.low is None or one.high is None:
                continue
            is_shown = one.outcome not in (Outcome.NOT_SHOWN, Outcome.UNKNOWN)
            n_shown, n_not_shown = n_shown + is_shown, n_not_shown + (not is_shown)
            holds_0 = one.low < 0.0 < one.high
            assert not holds_0 if is_shown else one.low <= 0.0 <= one.high, one.words
    assert min(n_shown, n_not_shown) > 20


def test_the_detectable_difference_by_hand() -> None:
    """c = z(0.975) + z(0.8), as one comparison is made: c standard errors, and c^2 claims of 50, by squares."""
    rng = np.random.default_rng(2)
    first, second = ([S if one else N for one in rng.random(50) < 0.7] for _ in range(2))
    one = difference(assess(two(first, second, [True] * 50), resamples=0), Quantity.ACCURACY)
    apart = [int(other is S) - int(mine is S) for mine, other in zip(first, second, strict=True)]
    assert one.is_headline
    both = norm.ppf(0.975) + norm.ppf(0.8)
    assert one.detectable == pytest.approx(((both * sem(apart)) ** 2 + (both**2 / 50) ** 2) ** 0.5)
    assert f"a difference of about {one.detectable:.3f} or more would have been seen 4 times out of 5" in one.words


def test_variants_that_hardly_disagree_are_not_told_apart_by_three_claims() -> None:
    """Two of 120 claims differ, one each way: 2.8 standard errors are 4 claims, whose p is 2 / 2^4 = 0.125.

    Six that all point one way have 2 / 2^6 = 0.031; eight are there in four of five experiments that expect eight.
    """
    first, second = [S] * 120, [S] * 120
    first[0] = second[1] = N
    one = difference(assess(two(first, second, [True] * 120), resamples=0), Quantity.ACCURACY)
    assert one.detectable is not None
    assert one.detectable * 0.85 < 8 / 120
    assert one.detectable > 7.8 / 120


def test_what_is_not_adjusted_is_detected_as_a_test_alone() -> None:
    none, holm = (
        next(one for one in assess(make_results(90), p_adjustment=each, resamples=0).differences if one.is_headline)
        for each in (FamilyAdjustment.NONE, FamilyAdjustment.HOLM)
    )
    assert none.detectable is not None
    assert holm.detectable is not None
    assert none.detectable < holm.detectable


def test_too_few_groups_can_show_nothing() -> None:
    """Five groups that all point one way have p = 2 / 2^5 = 1/16, six 1/32; three tests take seven with 1/64."""
    assert not can_be_shown(5, alpha=0.05, n_tests=1, p_adjustment=FamilyAdjustment.HOLM)
    assert can_be_shown(6, alpha=0.05, n_tests=1, p_adjustment=FamilyAdjustment.HOLM)
    assert not can_be_shown(6, alpha=0.05, n_tests=3, p_adjustment=FamilyAdjustment.HOLM)
    assert can_be_shown(6, alpha=0.05, n_tests=3, p_adjustment=FamilyAdjustment.BENJAMINI_HOCHBERG)
    assert can_be_shown(7, alpha=0.05, n_tests=3, p_adjustment=FamilyAdjustment.HOLM)
    five, six = (assess(two([N] * n, [S] * n, [True] * n)) for n in (5, 6))
    assert five.conclusions[0].outcome is Outcome.UNKNOWN
    mixed = assess(two([N, S, N, S, N], [S, N, S, S, N], [True] * 5)).differences[0]
    assert mixed.outcome is Outcome.UNKNOWN
    assert mixed.detectable is None, "no difference at all would have been seen"
    assert five.conclusions[0].words.startswith("cannot be said at n = 5 claims")
    assert six.conclusions[0].outcome is Outcome.BETTER


def test_repeats_are_not_independent() -> None:
    """The same verdicts in four repeats say no more than in one."""
    once = make_results(60, repeats=1, judges={"packaged": Judge(), "strict": Judge(tnr=0.9)})
    again = tuple(one.model_copy(update={"repeat": repeat}) for one in once.claims for repeat in (1, 2, 3, 4))
    one, four = (assess(each) for each in (once, once.model_copy(update={"claims": again, "repeats": 4})))
    assert one.differences
    for mine, other in zip(one.differences, four.differences, strict=True):
        assert (mine.value, mine.low, mine.high, mine.p, mine.n) == pytest.approx(
            (other.value, other.low, other.high, other.p, other.n)
        )


def test_the_headline_is_chosen_by_the_labels_alone() -> None:
    both, one_kind = two([S, N], [S, S], [True, False]), two([S, N], [S, S], [True, True])
    assert assess(both).headline is Quantity.BALANCED_ACCURACY
    assert assess(one_kind).headline is Quantity.ACCURACY
    assert assess(make_response_results(4)).headline is Quantity.F1
    assert assess(make_response_results(4, ks=())).headline is Quantity.PRECISION


@pytest.mark.parametrize(
    ("results", "words"),
    [
        (two([S] * 8, [N] * 8, [None] * 8), "cannot be said: no labels to go by"),
        (two([U] * 8, [N] * 8, [True, False] * 4), "cannot be said: nothing scored"),
        (
            two([S, U, U], [S, N, N], [True, False, False]),
            "people call none not supported",
        ),
        (two([S] * 8, [S] * 8, [True, False] * 4), "no difference shown between strict and packaged"),
        (two([S] * 8, [S] * 8, [True, False] * 4), "not one claim differs"),
    ],
)
def test_what_is_said_where_nothing_is_shown(results: Results, words: str) -> None:
    report = assess(results)
    assert words in report.conclusions[0].words
    assert report.conclusions[0].outcome in (Outcome.UNKNOWN, Outcome.NOT_SHOWN)
    assert "equal" not in "".join(one.words for one in report.differences)


def test_a_variant_that_leaves_more_claims_out_is_said_to() -> None:
    """It drops the claims that the baseline gets wrong: better on those that both judge, and half are not."""
    gold = [True, False] * 20
    first = [S] * 40
    second = [S if label else (N if place % 4 == 1 else U) for place, label in enumerate(gold)]
    report = assess(two(first, second, gold))
    assert "leaves more claims without a verdict than packaged" in report.conclusions[0].words
    assert "10 claims without a value in one of them left out" in report.conclusions[0].words


def test_an_experiment_in_another_order_is_the_same() -> None:
    results = make_results(40)
    claims = list(results.claims)
    random.Random(0).shuffle(claims)
    assert assess(results) == assess(results.model_copy(update={"claims": tuple(claims)}))


def test_exchanging_the_sides_turns_the_signs() -> None:
    results = make_results(60, judges={"packaged": Judge(), "strict": Judge(tnr=0.9)})
    one = assess(results)
    other = assess(results.model_copy(update={"baseline": "strict"}))
    for mine, turned in zip(one.differences, other.differences, strict=True):
        assert mine.value == pytest.approx(-(turned.value or 0.0))
        assert mine.p == pytest.approx(turned.p)
        assert mine.low == pytest.approx(None if turned.high is None else -turned.high)
    counts = one.flip_counts[0], other.flip_counts[0]
    assert (counts[0].n_better, counts[0].n_worse) == (counts[1].n_worse, counts[1].n_better)


def test_one_variant_is_a_report_without_comparison() -> None:
    report = assess(make_results(12, judges={"packaged": Judge()}))
    assert (report.conclusions, report.differences, report.flips, report.families) == ((), (), (), ())
    assert "There is one variant, so nothing is compared." in report.warnings


def test_one_claim_and_no_claim() -> None:
    one = assess(two([S], [N], [True]))
    assert one.conclusions[0].outcome is Outcome.UNKNOWN
    assert len(one.flips) == 1
    none = assess(results_of([]))
    assert none.conclusions[0].words == (
        "cannot be said: no labels to go by, so strict and packaged are not compared in balanced accuracy."
    )
    assert (none.n_labelled, none.flips) == (0, ())


def test_every_two_are_compared_where_asked_for() -> None:
    report = assess(make_results(30), pairs="all", resamples=0)
    assert [(one.first, one.second) for one in report.conclusions] == [
        ("packaged", "strict"),
        ("packaged", "short"),
        ("strict", "short"),
    ]
    assert {(one.first, one.second) for one in report.flip_counts} == {("packaged", "strict"), ("packaged", "short")}


def _twice(results: Results) -> tuple[JudgedClaim, ...]:
    return (*results.claims, results.claims[0])


def _relabelled(results: Results) -> tuple[JudgedClaim, ...]:
    return (results.claims[0].model_copy(update={"gold": not results.claims[0].gold}), *results.claims[1:])


def _of_repeat_9(results: Results) -> tuple[JudgedClaim, ...]:
    return (results.claims[0].model_copy(update={"repeat": 9}), *results.claims[1:])


def test_contradictory_results_are_refused() -> None:
    results = make_results(6)
    cases: Mapping[str, tuple[JudgedClaim, ...]] = {
        "packaged, repeat 1: the claim 'c0000' has two results": _twice(results),
        "the claim 'c0000' comes with two labels": _relabelled(results),
        "packaged: a result of repeat 9, and the experiment has 3": _of_repeat_9(results),
    }
    for words, claims in cases.items():
        with pytest.raises(DataError, match=words):
            assess(results.model_copy(update={"claims": claims}))


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"level": 0.0}, {"resamples": -1}, {"p_adjustment": "bonferonni"}])
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"level|valid FamilyAdjustment"):
        assess(make_results(6), **wrong)  # type: ignore[arg-type]  # on purpose
