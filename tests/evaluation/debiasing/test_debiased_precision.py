from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # it ships no types

from benchmarks.correction_coverage import SURE, of_grid
from factloop.core.errors import ConfigError
from factloop.core.extras import install_command
from factloop.core.figure import Undefined
from factloop.core.records import Counts
from factloop.evaluation.debiasing.estimates import t_quantile
from factloop.evaluation.debiasing.precision import debiased_precision, evaluator_rates
from factloop.evaluation.debiasing.records import Caution, Estimate, EvaluatorRates
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims, as_samples
from tests.extras import needs

pytestmark = needs("ppi_py", "correction")

Draw = tuple[list[int], list[int], list[int]]


def draw(rng: np.random.Generator, n_groups: int, size: int, *, truth: float, tpr: float, tnr: float) -> Draw:
    rates = rng.beta(6 * truth, 6 * (1 - truth), size=n_groups) if size > 1 else np.full(n_groups, truth)
    groups = np.repeat(np.arange(n_groups), size)
    labels = rng.random(len(groups)) < rates[groups]
    verdicts = np.where(labels, rng.random(len(groups)) < tpr, rng.random(len(groups)) >= tnr)
    return labels.astype(int).tolist(), verdicts.astype(int).tolist(), groups.tolist()


def responses(verdicts: Sequence[int], groups: Sequence[int]) -> JudgedResponses:
    counts = []
    for name in dict.fromkeys(groups):
        own = [verdict for verdict, group in zip(verdicts, groups, strict=True) if group == name]
        counts.append(Counts(supported=sum(own), not_supported=len(own) - sum(own)))
    return JudgedResponses(counts)


def interval(found: Estimate) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def reach_of(found: Estimate) -> float:
    """Quantile times standard error, as both ends of Wilson's interval have it: (v - s)^2 / (s (1 - s)) v (1 - v)."""
    assert found.value is not None
    v = found.value
    reaches = [abs(v - end) * math.sqrt(v * (1 - v) / (end * (1 - end))) for end in interval(found)]
    assert reaches[0] == pytest.approx(reaches[1])
    return reaches[0]


def worked_example() -> tuple[LabelledClaims, JudgedResponses]:
    """Two groups of two labelled claims; three responses of two, four of whose claims are called supported."""
    labelled = LabelledClaims([1, 1, 1, 0], [1, 0, 1, 1], groups=["a", "a", "b", "b"])
    counts = [Counts(supported=2), Counts(supported=1, not_supported=1), Counts(supported=1, not_supported=1)]
    return labelled, JudgedResponses(counts)


def test_by_hand() -> None:
    found = debiased_precision(*worked_example(), level=0.5)
    # raw: 4/6; the responses move it by 2/3, -1/3, -1/3 of a claim in 6, times sqrt(3/2): variance 1/36 * 6/9 * 3/2
    assert found.raw.value == pytest.approx(2 / 3)
    # That is the variance of (2/3 * 1/3) * 36 = 8 claims; Student's t with two degrees of freedom is sqrt(2/3).
    reach = math.sqrt(2 / 3 * 2 / 9 / 8 + (2 / 3) ** 2 / 256)
    assert interval(found.raw) == pytest.approx([(2 / 3 + 1 / 24 + sign * reach) * 12 / 13 for sign in (-1, 1)])
    # labels move by 1/2, -1/2 in 4 and verdicts by -1/2, 1/2, times sqrt(2). <label, verdict> = -1/16, so lambda is 0
    assert (found.prediction_powered.value, found.prediction_powered.weight) == (0.75, 0.0)
    # TPR 2/3, FPR 1: no correction
    assert found.adjusted_count.undefined is Undefined.NO_SIGNAL
    # TPR moves by -1/9 and 1/9, times sqrt(2): variance 4/81, that of (2/3 * 1/3) / (4/81) = 4.5 claims. Student's t is
    # 1, and Wilson's interval (2/3 + 1/9 -+ sqrt(4/81 + 1/81)) / (1 + 1/4.5). FPR is of a single group.
    ends = [found.evaluator.tpr_low, found.evaluator.tpr_high]
    assert ends == pytest.approx([(7 - math.sqrt(5)) / 11, (7 + math.sqrt(5)) / 11])
    assert found.evaluator.model_copy(update={"tpr_low": None, "tpr_high": None}) == EvaluatorRates(
        tpr=2 / 3, fpr=1.0, level=0.5, n_supported=3, n_not_supported=1, n_unscored=0
    )
    assert (found.raw.n_run, found.raw.n_run_groups, found.raw.n_labels) == (6, 3, 0)
    assert (found.adjusted_count.n_labels, found.adjusted_count.n_label_groups) == (4, 2)


@pytest.mark.parametrize(
    ("rate", "value", "has_interval"),
    [
        # TPR .7, FPR .1: (.95 - .1) / .6 = 1.42, and all of Fieller's interval lies above 1
        (950, 1.0, False),
        (10, 0.0, False),
        (720, 1.0, True),  # 1.03, and the interval begins below 1
        (500, 2 / 3, True),
    ],
)
def test_an_interval_beyond_0_or_1_is_no_certainty(rate: int, value: float, has_interval: bool) -> None:
    labelled = LabelledClaims([1] * 100 + [0] * 100, [1] * 70 + [0] * 30 + [1] * 10 + [0] * 90)
    found = debiased_precision(labelled, JudgedResponses.of_claims([1] * rate + [0] * (1000 - rate))).adjusted_count
    assert found.value == pytest.approx(value)
    assert (found.interval is not None) == has_interval
    assert (Caution.OUT_OF_RANGE in found.cautions) == (not has_interval)
    assert (Caution.CLIPPED in found.cautions) == (value in (0.0, 1.0))
    if has_interval:
        low, high = interval(found)
        assert low < high


@pytest.mark.parametrize("seed", range(5))
def test_single_claims_as_ppi_python_and_truescore_have_them(seed: int) -> None:
    import truescore
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate  # type: ignore[import-untyped]  # has no type hints

    rng = np.random.default_rng(seed)
    label, verdict, _ = draw(rng, 80, 1, truth=0.7, tpr=0.85, tnr=0.75)
    _, run, _ = draw(rng, 400, 1, truth=0.7, tpr=0.85, tnr=0.75)
    found = debiased_precision(LabelledClaims(label, verdict), JudgedResponses.of_claims(run)).prediction_powered
    known = [np.array(column, dtype=float) for column in (label, verdict, run)]
    assert found.value == pytest.approx(ppi_mean_pointestimate(*known)[0], abs=1e-12)
    low, high = (end[0] for end in ppi_mean_ci(*known, alpha=0.05))
    assert reach_of(found) == pytest.approx((high - low) / 2)
    theirs = truescore.ppi_estimate(verdict + run, label, list(range(80)))
    assert found.value == pytest.approx(theirs.point)
    assert found.weight == pytest.approx(theirs.lambda_)
    assert reach_of(found) == pytest.approx((theirs.high - theirs.low) / 2, abs=0.003)  # n - 1 in the place of n


@pytest.mark.parametrize("seed", range(5))
def test_groups_as_truescore_has_them(seed: int) -> None:
    import truescore

    rng = np.random.default_rng(seed)
    label, verdict, group = draw(rng, 30, 6, truth=0.7, tpr=0.85, tnr=0.75)
    _, run, run_group = draw(rng, 60, 6, truth=0.7, tpr=0.85, tnr=0.75)
    found = debiased_precision(LabelledClaims(label, verdict, group), responses(run, run_group)).prediction_powered
    theirs = truescore.ppi_estimate(
        verdict + run,
        label,
        list(range(len(label))),
        lambda_=found.weight,
        clusters=group + [100 + name for name in run_group],
    )
    assert found.value == pytest.approx(theirs.point, abs=1e-12)
    standard_error = (theirs.high - theirs.low) / 2 / stats.t.ppf(0.975, 29)
    assert stats.t.ppf(0.975, 29) < reach_of(found) / standard_error < stats.t.ppf(0.975, 9)


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_count_as_judgy_has_it(seed: int) -> None:
    """judgy takes the run's rate as certain, so its interval lies within ours except for noise."""
    import judgy  # type: ignore[import-untyped]  # has no type hints

    rng = np.random.default_rng(seed)
    label, verdict, _ = draw(rng, 150, 1, truth=0.7, tpr=0.85, tnr=0.75)
    _, run, _ = draw(rng, 100, 1, truth=0.7, tpr=0.85, tnr=0.75)
    found = debiased_precision(LabelledClaims(label, verdict), JudgedResponses.of_claims(run)).adjusted_count
    value, low, high = judgy.estimate_success_rate(label, verdict, run, bootstrap_iterations=500)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert high - low < interval(found)[1] - interval(found)[0]


def test_labels_within_the_run_are_drawn_with_it() -> None:
    """Every claim is labelled and every verdict right, so the verdicts add nothing to the labels."""
    label, _, group = draw(np.random.default_rng(1), 40, 5, truth=0.7, tpr=1, tnr=1)
    run = responses(label, group)
    both = JudgedResponses(run.counts, groups=list(range(40)))
    found = debiased_precision(LabelledClaims(label, label, group), both)
    assert as_samples(LabelledClaims(label, label, group), both).share_groups
    assert found.prediction_powered.value == pytest.approx(np.mean(label))
    assert interval(found.prediction_powered) == pytest.approx(interval(found.raw))
    (low, high), (raw_low, raw_high) = interval(found.adjusted_count), interval(found.raw)
    assert high - low > raw_high - raw_low  # of rates that are 1 and 0 no more is known than the labels show
    apart = debiased_precision(LabelledClaims(label, label, group), run)
    assert interval(apart.prediction_powered)[0] > interval(found.prediction_powered)[0]


NONE = LabelledClaims([], [])
ONE = JudgedResponses.of_claims([1, 0, 1])
FEW = LabelledClaims([1, 1, 0, 0], [1, 0, 0, None])


@pytest.mark.parametrize(
    ("labelled", "run", "expected"),
    [
        (FEW, JudgedResponses([]), ["nothing_scored"] * 3),
        (FEW, JudgedResponses.of_claims([None, None]), ["nothing_scored"] * 3),
        (FEW, JudgedResponses([Counts(irrelevant=3)]), ["nothing_scored"] * 3),
        (NONE, ONE, [None, "no_labels", "no_labels"]),
        (LabelledClaims([1, 0], [None, None]), ONE, [None, "no_labels", "no_labels"]),
        (LabelledClaims([1, 1, 1], [1, 0, 1]), ONE, [None, None, "class_missing"]),
        (LabelledClaims([1, 0] * 50, [1] * 100), ONE, [None, None, "no_signal"]),
        (LabelledClaims([1, 0] * 50, [0, 1] * 50), ONE, [None, None, "no_signal"]),
        # 6 of 10 against 5 of 10: above, but not beyond chance
        (LabelledClaims([1] * 10 + [0] * 10, [1] * 6 + [0] * 4 + [1] * 5 + [0] * 5), ONE, [None, None, "no_signal"]),
    ],
)
def test_undefined(labelled: LabelledClaims, run: JudgedResponses, expected: list[Any]) -> None:
    found = debiased_precision(labelled, run)
    estimates = (found.raw, found.prediction_powered, found.adjusted_count)
    assert [estimate.undefined for estimate in estimates] == expected
    assert all((estimate.value is None) == (estimate.undefined is not None) for estimate in estimates)


def test_cautions() -> None:
    one_group = LabelledClaims([1, 0] * 20, [1, 0] * 20, groups=["x"] * 40)
    assert set(debiased_precision(one_group, ONE).prediction_powered.cautions) == {
        Caution.FEW_LABELS,
        Caution.FEW_OF_A_CLASS,
        Caution.ONE_GROUP,
    }
    assert debiased_precision(one_group, ONE).prediction_powered.low is None
    together = LabelledClaims([1, 0] * 20 + [1] * 80, [1] * 120, ["x"] * 40 + [f"q{n // 2}" for n in range(80)])
    assert Caution.FEW_OF_A_CLASS in debiased_precision(together, ONE).prediction_powered.cautions, "20 of one response"
    rare = LabelledClaims([1] * 95 + [0] * 5, [1] * 100)
    assert set(debiased_precision(rare, ONE).prediction_powered.cautions) == {Caution.FEW_OF_A_CLASS, Caution.WIDENED}
    all_called = debiased_precision(rare, JudgedResponses.of_claims([1, 1, 1])).raw
    assert (all_called.cautions, all_called.value, all_called.interval) == ((Caution.NO_SPREAD,), 1.0, None)
    good = LabelledClaims([1, 0] * 50, [1, 0] * 45 + [0, 1] * 5)
    assert debiased_precision(good, JudgedResponses.of_claims([1, 0] * 100)).prediction_powered.cautions == ()


def test_the_library_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ppi_py", None)
    with pytest.raises(ConfigError, match=re.escape(install_command("debiasing"))):
        debiased_precision(FEW, ONE)
    assert debiased_precision(*worked_example()).prediction_powered.value is not None  # groups need none


def test_rates_of_single_claims_have_wilsons_interval() -> None:
    """9 of 11 with a variance of 10 claims (n - 1), t 2.228 for 10 degrees of freedom; 0 of 4 by four claims, t 3.182.
    Against statsmodels, with the level that has these quantiles in a normal distribution."""
    labelled = LabelledClaims([1] * 11 + [0] * 4, [1] * 9 + [0] * 2 + [0] * 4)
    found = evaluator_rates(as_samples(labelled, JudgedResponses([])), 0.95)
    for n, reach, rate, low, high in (
        (10.0, stats.t.ppf(0.975, 10), found.tpr, found.tpr_low, found.tpr_high),
        (4.0, stats.t.ppf(0.975, 3), found.fpr, found.fpr_low, found.fpr_high),
    ):
        assert rate is not None
        alpha = 2.0 * stats.norm.sf(reach)
        assert (low, high) == pytest.approx(proportion_confint(rate * n, n, alpha, "wilson"))


LABELS = [1, 1, 1, 0] * 10
GROUPS = [f"q{place}" for place in range(40)]
COUNTS = [Counts(supported=4)] * 50


def run_of(*sums: float) -> JudgedResponses:
    """Fifty responses of four claims, all called supported, with these sums of scores by turns."""
    return JudgedResponses(COUNTS, [f"p{place}" for place in range(50)], [*sums] * (50 // len(sums)))


def test_a_value_by_scores_by_hand() -> None:
    """Verdicts are all 1 and say nothing. Scores are 0.9 of supported claims, 0.2 of others, so that lambda is 1. The
    run's mean score is (2.9 + 3.6) / 8 = 0.8125; labels have 0.75 against a score of 0.725: 0.8375."""
    scores = [0.9 if label else 0.2 for label in LABELS]
    labelled = LabelledClaims(LABELS, [1] * 40, GROUPS, scores=scores)
    found = debiased_precision(labelled, run_of(2.9, 3.6)).prediction_powered
    assert (found.uses_scores, found.weight) == (True, 1.0)
    assert found.value == pytest.approx(0.8375)
    by_verdicts = debiased_precision(labelled, JudgedResponses(COUNTS, run_of(4.0).groups)).prediction_powered
    assert (by_verdicts.uses_scores, by_verdicts.value) == (False, 0.75)
    assert found.interval is not None
    assert by_verdicts.interval is not None
    assert found.interval[1] - found.interval[0] < 0.5 * (by_verdicts.interval[1] - by_verdicts.interval[0])


def test_a_claim_without_a_score_counts_by_its_verdict() -> None:
    """Scores of 1 and missing ones say no more than the verdicts do."""
    verdicts = [1, 1, 0, 0] * 10
    labelled = LabelledClaims(LABELS, verdicts, GROUPS, scores=[float(one) if one else None for one in verdicts])
    counts = [Counts(supported=2, not_supported=2)] * 25 + [Counts(supported=3, not_supported=1)] * 25
    run = JudgedResponses(counts, [f"p{place}" for place in range(50)], [2.0] * 25 + [3.0] * 25)
    assert debiased_precision(labelled, run).prediction_powered.uses_scores is False
    assert debiased_precision(labelled, run) == debiased_precision(LabelledClaims(LABELS, verdicts, GROUPS), run)


def test_the_runs_own_precision_by_scores() -> None:
    scores = [0.9 if label else 0.2 for label in LABELS]
    labelled = LabelledClaims(LABELS, [1] * 40, [f"p{place}" for place in range(40)], is_own=[True] * 40, scores=scores)
    own = debiased_precision(labelled, run_of(2.9, 3.6)).own_claims
    assert own is not None
    assert own.uses_scores
    assert own.value == pytest.approx(0.8375)


def test_labels_without_an_error_widen_intervals_by_scores_too() -> None:
    """Scores vary where verdicts do not, which is no knowledge of errors: 40 labels may hide one."""
    scores = [abs(label - n % 3 / 100) for n, label in enumerate(LABELS)]
    counts = [Counts(supported=3, not_supported=1)] * 25 + [Counts(supported=2, not_supported=2)] * 25
    run = JudgedResponses(counts, [f"p{place}" for place in range(50)], [2.98] * 25 + [2.02] * 25)
    found = debiased_precision(LabelledClaims(LABELS, LABELS, GROUPS, scores=scores), run).prediction_powered
    by_labels = proportion_confint(30, 39, 2.0 * stats.norm.sf(stats.t.ppf(0.975, 39)), "wilson")
    assert Caution.WIDENED in found.cautions
    assert interval(found)[1] - interval(found)[0] > 0.9 * (by_labels[1] - by_labels[0])


def test_a_few_responses_that_make_up_a_variance_are_as_many_degrees_of_freedom() -> None:
    """Three of forty groups move a figure by 2 each, the rest not at all: Student's t of three, not of 39."""
    moves = np.zeros(40)
    moves[:3] = 2.0
    assert t_quantile(40, 0.95, moves) == pytest.approx(stats.t.ppf(0.975, 3))
    assert t_quantile(40, 0.95, np.ones(40)) == t_quantile(40, 0.95) == pytest.approx(stats.t.ppf(0.975, 39))


@pytest.mark.statistical
@pytest.mark.parametrize("cell", [(0.95, 0.2, 30, 40), (0.97, 0.3, 60, 20), (0.9, 0.3, 30, 20)])
def test_errors_that_come_together_leave_coverage_at_93_percent(cell: tuple[float, float, int, int]) -> None:
    """Precision, correlation, prompts and claims. It was 88, 88 and 90 %, with the truth below in up to 11 %."""
    ((_, found, _),) = of_grid([cell], 600, 3)
    assert found.is_met


@pytest.mark.statistical
def test_a_judge_that_hardly_errs_leaves_coverage_at_93_percent_by_scores() -> None:
    """Without the widening for labels that show no error it was 88 %, with the truth below in 11 %."""
    ((_, found, _),) = of_grid([(0.3, 0.0, 30, 2)], 300, 3, SURE, has_scores=True)
    assert found.is_met
