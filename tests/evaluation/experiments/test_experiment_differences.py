from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import norm, sem  # type: ignore[import-untyped]  # its stubs are no dependency
from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]  # it ships no types
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]  # it ships no types

from factloop.core.errors import DataError
from factloop.core.records import Verdict
from factloop.evaluation.comparing.demands import read_demand
from factloop.evaluation.comparing.differences import can_be_shown
from factloop.evaluation.comparing.records import Outcome, PairedDifference, Quantity
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.records import ExperimentReport, Results
from tests.evaluation.experiments.sample import claim, make_results, results_of

pytestmark = pytest.mark.usefixtures("frozen")

S, N, R, U = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT, None


def two(
    first: Sequence[Verdict | None],
    second: Sequence[Verdict | None],
    gold: Sequence[bool | None],
    groups: Sequence[str] | None = None,
) -> Results:
    names = groups or [""] * len(gold)
    claims = [
        claim(variant, f"c{place:03}", verdict, gold=label, group=group)
        for variant, verdicts in (("packaged", first), ("strict", second))
        for place, (verdict, label, group) in enumerate(zip(verdicts, gold, names, strict=True))
    ]
    return results_of(claims)


def difference(report: ExperimentReport, quantity: Quantity, second: str = "strict") -> PairedDifference:
    return next(one for one in report.differences if (one.quantity, one.second) == (quantity, second))


def test_accuracy_of_independent_claims_is_mcnemars_test() -> None:
    rng = np.random.default_rng(0)
    first, second = ([S if one else N for one in rng.random(60) < rate] for rate in (0.6, 0.85))
    one = difference(assess(two(first, second, [True] * 60), resamples=0), Quantity.ACCURACY)
    table = np.zeros((2, 2))
    for mine, other in zip(first, second, strict=True):
        table[int(mine is S), int(other is S)] += 1
    wanted = mcnemar(table, exact=True).pvalue
    assert one.p == pytest.approx(wanted)


def test_families_are_adjusted_apart() -> None:
    """Tests that could not be so small do not count: nothing is larger, and what can be reached is the same."""
    report = assess(make_results(90), resamples=0, pairs="all")
    sizes = {str(family.name): family.n_tests for family in report.families}
    for name, flags in {"headline": (True, False), "questions": (False, True), "details": (False, False)}.items():
        family = [one for one in report.differences if (one.is_headline, one.is_question) == flags]
        assert len(family) == sizes[name]
        p_values = [one.p for one in family if one.p is not None]
        wanted = list(multipletests(p_values, method="holm")[1])
        held = [one.p_corrected for one in family if one.p_corrected is not None]
        assert len(held) == len(family)
        assert all(mine <= most * (1 + 1e-9) for mine, most in zip(held, wanted, strict=True))
        assert max(held) == pytest.approx(max(wanted))
    assert sizes == {"headline": 3, "questions": 6, "details": 18}


def test_questions_pay_for_one_another_and_for_nothing_else() -> None:
    """TPR -6 of 18 with p = 2/2^6, TNR +8 of 22 with 2/2^8, which the first could not have reached: both are shown."""
    gold = [True] * 18 + [False] * 22
    first = [S] * 18 + [S] * 8 + [N] * 14
    second = [N] * 6 + [S] * 12 + [N] * 22
    report = assess(two(first, second, gold), resamples=0)
    found = [difference(report, one) for one in (Quantity.TPR, Quantity.TNR)]
    assert [one.p_corrected for one in found] == [2 / 2**6, 2 / 2**8]
    assert "finds fewer of the supported claims" in report.conclusions[0].words
    assert "finds more of the unsupported claims" in report.conclusions[0].words
    two_lost = assess(two([S] * 30, [N] * 2 + [S] * 16 + [N] * 12, [True] * 18 + [False] * 12), resamples=9)
    lost = "In TPR (−0.111), no difference is shown, but a loss of up to 0.286 is not ruled out."
    assert lost in two_lost.conclusions[0].words
    (one,) = [
        each for each in assess(two(first, second, gold), questions=[Quantity.BIAS]).differences if each.is_question
    ]
    assert one.quantity is Quantity.BIAS


def test_the_detectable_difference_by_hand() -> None:
    """c = z(0.975) + z(0.8), as one comparison is made: c standard errors, and c^2 claims of 50, by squares."""
    rng = np.random.default_rng(2)
    first, second = ([S if one else N for one in rng.random(50) < 0.7] for _ in range(2))
    one = difference(assess(two(first, second, [True] * 50), resamples=0), Quantity.ACCURACY)
    apart = [int(other is S) - int(mine is S) for mine, other in zip(first, second, strict=True)]
    assert one.is_headline
    both = norm.ppf(0.975) + norm.ppf(0.8)
    assert one.detectable == pytest.approx(((both * sem(apart)) ** 2 + (both**2 / 50) ** 2) ** 0.5)
    assert f"a difference of about {one.detectable:.3f} or more would be detected 4 times out of 5" in one.words


def test_too_few_groups_can_show_nothing() -> None:
    """Five groups that all point one way have p = 2 / 2^5 = 1/16, six 1/32; three tests take seven with 1/64."""
    assert not can_be_shown(5, alpha=0.05, n_tests=1)
    assert can_be_shown(6, alpha=0.05, n_tests=1)
    assert not can_be_shown(6, alpha=0.05, n_tests=3)
    assert can_be_shown(7, alpha=0.05, n_tests=3)
    five, six = (assess(two([N] * n, [S] * n, [True] * n)) for n in (5, 6))
    assert five.conclusions[0].outcome is Outcome.UNKNOWN
    mixed = assess(two([N, S, N, S, N], [S, N, S, S, N], [True] * 5)).differences[0]
    assert mixed.outcome is Outcome.UNKNOWN
    assert mixed.detectable is None, "no difference at all would have been seen"
    assert five.conclusions[0].words.startswith("Too few groups to tell: ")
    assert six.conclusions[0].outcome is Outcome.BETTER


@pytest.mark.parametrize(
    ("results", "words"),
    [
        (two([S] * 8, [N] * 8, [None] * 8), "in balanced accuracy: no labels"),
        (two([U] * 8, [N] * 8, [True, False] * 4), "in balanced accuracy: nothing scored"),
        (two([S, U, U], [S, N, N], [True, False, False]), "none labelled not supported"),
        (two([S] * 8, [S] * 8, [True, False] * 4), "is shown between strict and packaged"),
        (two([S] * 8, [S] * 8, [True, False] * 4), "no claim differs"),
    ],
)
def test_what_is_said_where_nothing_is_shown(results: Results, words: str) -> None:
    report = assess(results)
    assert words in report.conclusions[0].words
    assert report.conclusions[0].outcome in (Outcome.UNKNOWN, Outcome.NOT_SHOWN)
    assert "equal" not in "".join(one.words for one in report.differences)


def test_claims_without_a_verdict_neither_pass_a_gate_nor_win() -> None:
    """The baseline errs on 8 of 16 hard claims, the variant judges none of them: it lost 8 of 40, and 20 % of each."""
    gold, hard = [True, False] * 20, range(24, 40)
    right = [S if one else N for one in gold]
    first = [(N if right[at] is S else S) if at in hard and at % 4 < 2 else right[at] for at in range(40)]
    second = [None if at in hard else right[at] for at in range(40)]
    demands = [read_demand(one) for one in ("balanced_accuracy:0.12", "accuracy")]
    report = assess(two(first, second, gold), demands=demands, resamples=0)
    assert [one.is_met for one in report.demands] == [False, False]
    assert report.demands[0].loss == pytest.approx(0.2)
    one = difference(report, Quantity.BALANCED_ACCURACY)
    assert (one.value, one.outcome) == (0.0, Outcome.NOT_SHOWN)
    assert [one.if_wrong, one.if_right] == pytest.approx([-0.2, 0.2])
    guessed = assess(two(second, first, gold), demands=demands[:1], resamples=0)
    assert not guessed.demands[0].is_met, "eight that were left open are wrong now"
    assert assess(two(second, second, gold), demands=demands[:1], resamples=0).demands[0].is_met

    mixed = assess(two([N] * 8 + [S] * 10, [S] * 8 + [None] * 10, [True] * 18), resamples=0).conclusions[0]
    assert mixed.outcome is Outcome.NOT_SHOWN, "eight more are right where both judged, and ten are lost"
    assert "excluded: 10 claims without a value on one side" in mixed.words


def test_an_experiment_in_another_order_is_the_same() -> None:
    results = make_results(40)
    claims = list(results.claims)
    random.Random(0).shuffle(claims)
    assert assess(results) == assess(results.model_copy(update={"claims": tuple(claims)}))


def test_contradictory_results_are_refused() -> None:
    results = make_results(6)
    first, *rest = results.claims
    cases = {
        "packaged, repeat 1: the claim 'c0000' has two results": (first, *rest, first),
        "the claim 'c0000' has two different labels": (first.model_copy(update={"gold": not first.gold}), *rest),
        "a result belongs to repeat 9, but `repeats` is 3": (first.model_copy(update={"repeat": 9}), *rest),
    }
    for words, claims in cases.items():
        with pytest.raises(DataError, match=words):
            assess(results.model_copy(update={"claims": claims}))


def test_a_prompt_is_pooled_over_the_models_that_it_was_tried_with() -> None:
    """Of 20 claims `strict` wins 4 with one model, 8 with the other: 6 of 20 over both, on 8 claims."""
    wins = {"strict": 4, "other-strict": 8}
    changes = {
        "packaged": {},
        "strict": {"prompts": "p"},
        "other": {"model": "m"},
        "other-strict": {"prompts": "p", "model": "m"},
    }
    claims = [
        claim(name, f"c{place:02}", Verdict.SUPPORTED if place < wins.get(name, 0) else Verdict.NOT_SUPPORTED)
        for name in changes
        for place in range(20)
    ]
    results = results_of(claims, names=tuple(changes))
    variants = tuple(one.model_copy(update={"changes": changes[one.name]}) for one in results.variants)
    (words,) = assess(results.model_copy(update={"variants": variants}), resamples=0).pooled
    assert words.startswith(
        "On average over 2 models or settings: strict agrees more often with the labels than packaged: +0.300"
    )
    assert assess(results, resamples=0).pooled == ()
