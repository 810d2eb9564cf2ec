from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t  # type: ignore[import-untyped]  # its stubs are no dependency

from benchmarks.labels_of_run import DRAWS, coverage
from factloop.core.records import Counts
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.records import Estimate, Method, Target
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims


def of_run(labelled: LabelledClaims, run: JudgedResponses) -> Estimate:
    found = debiased_precision(labelled, run).own_claims
    assert found is not None
    return found


def run_of(*said: tuple[int, int]) -> JudgedResponses:
    counts = [Counts(supported=one, not_supported=other) for one, other in said]
    return JudgedResponses(counts, [f"p{place}" for place in range(len(said))])


def test_the_value_by_hand() -> None:
    """Labels 1 1 1 0 of verdicts 1 1 0 0: covariance 0.5 over a square of 1, so lambda 0.5; the run has 5 of 8. 0.5 *
    5/8 + (3/4 - 0.5 * 2/4) = 0.8125."""
    labelled = LabelledClaims([1, 1, 1, 0], [1, 1, 0, 0], ["p0", "p0", "p1", "p1"], is_own=[True] * 4)
    found = of_run(labelled, run_of((2, 0), (0, 2), (2, 0), (1, 1)))
    assert found.weight == pytest.approx(0.5)
    assert found.value == pytest.approx(0.8125)
    assert (found.method, found.target) == (Method.DIFFERENCE, Target.RUN)
    assert (found.n_labels, found.n_label_groups, found.n_run) == (4, 2, 8)


def test_with_every_claim_labelled_nothing_is_left_open() -> None:
    labelled = LabelledClaims([1, 0, 1, 1], [1, 1, 0, 1], ["p0", "p0", "p1", "p1"], is_own=[True] * 4)
    found = of_run(labelled, run_of((2, 0), (1, 1)))
    assert (found.value, found.low, found.high, found.cautions) == (0.75, 0.75, 0.75, ())
    with_one_open = of_run(labelled, run_of((2, 0), (2, 1)))
    assert (with_one_open.low, with_one_open.high) == (0.6, 0.8), "three or four of five"


def test_only_labels_of_the_run_count() -> None:
    labelled = LabelledClaims(
        [1, 1, 1, 0, 0, 0, 0, 0], [1] * 8, ["p0"] * 4 + ["q"] * 4, is_own=[True] * 4 + [False] * 4
    )
    found = of_run(labelled, run_of((8, 0), (8, 0)))
    assert (found.value, found.n_labels) == (0.75, 4)
    assert debiased_precision(LabelledClaims([1, 0], [1, 1]), run_of((8, 0))).own_claims is None


def test_the_interval_is_the_textbooks_for_claims_drawn_with_probabilities() -> None:
    """sum (1 - p) ((e - mean e) / p)^2 n / (n - 1) over the square of sum 1 / p, and half an error. That error has the
    mean weight of the verdict whose claims count for more. The interval is Wilson's: the shares s with (value - s)^2 =
    t^2 s (1 - s) / m, m being value (1 - value) over the variance, and whole claims of 120."""
    rng = np.random.default_rng(2)
    n = 60
    labels, chance = rng.integers(0, 2, n), rng.uniform(0.2, 1.0, n)
    verdicts = np.where(rng.random(n) < 0.8, labels, 1 - labels)
    labelled = LabelledClaims(
        labels.tolist(), verdicts.tolist(), [f"p{place % 2}" for place in range(n)], chance.tolist(), [True] * n
    )
    found = of_run(labelled, run_of((40, 20), (30, 30)))
    weight = 1.0 / chance
    assert found.weight is not None
    left = labels - found.weight * verdicts
    left = left - np.average(left, weights=weight)
    open_weight = (1.0 - chance) * weight**2
    unseen = 0.5 * max(open_weight[verdicts == verdict].mean() for verdict in (0, 1))
    variance = ((open_weight * left**2).sum() * n / (n - 1) + unseen) / weight.sum() ** 2
    value = found.weight * 70 / 120 + np.average(labels - found.weight * verdicts, weights=weight)
    per_case = t.ppf(0.975, n - 1) ** 2 * variance / (value * (1.0 - value))
    ends = np.sort(np.roots([1.0 + per_case, -2.0 * value - per_case, value**2]))
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == (np.ceil(120 * ends[0]) / 120, np.floor(120 * ends[1]) / 120)


@pytest.mark.statistical
@pytest.mark.parametrize("draw", DRAWS)
def test_labels_of_a_run_leave_coverage_at_95_percent(draw: str) -> None:
    """600 runs, whose number allows for 2.7 points. With prompts named apart, half the run labelled gave 91 %."""
    of_prompts, of_run = coverage(draw, 600)
    assert of_prompts == pytest.approx(0.95, abs=0.03)
    if draw == "all of the run":
        assert of_run == 1.0
    elif of_run is not None:
        assert of_run == pytest.approx(0.95, abs=0.03)


def test_the_interval_of_unevenly_drawn_labels_by_hand() -> None:
    """Verdicts that are always 1 say nothing, so the value is the mean of the labels by weight: 24 of 34, or 12/17.
    Each of 22 prompts has a claim: four of weight 4 are supported, of 18 of weight 1 eight are. The variance is ((4 *
    16 + 8) (5/17)^2 + 10 (12/17)^2) 22/21 / 34^2, and half an error of weight^2 (64 + 18) / 22. Wilson's limits s solve
    (12/17 - s)^2 = t^2 s (1 - s) V / (12/17 * 5/17), with t of 21 degrees of freedom 2.07961."""
    labels, chance = [1] * 12 + [0] * 10, [0.25] * 4 + [1.0] * 18
    groups = [f"q{place}" for place in range(22)]
    run = JudgedResponses([Counts(supported=5)] * 30, [f"p{place}" for place in range(30)])
    found = debiased_precision(LabelledClaims(labels, [1] * 22, groups, chance), run).prediction_powered
    value = 12 / 17
    variance = ((72 * (5 / 17) ** 2 + 10 * value**2) * 22 / 21 + 0.5 * 82 / 22) / 34**2
    per_case = 2.07961**2 * variance / (value * 5 / 17)
    ends = np.sort(np.roots([1.0 + per_case, -2.0 * value - per_case, value**2]))
    assert found.value == pytest.approx(value)
    assert found.interval == pytest.approx(tuple(ends), abs=1e-5)
