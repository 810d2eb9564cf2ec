from __future__ import annotations

import numpy as np
import pytest

from benchmarks.chosen_labels import WORLDS, compare
from benchmarks.judge_worlds import JudgeWorld
from factloop.core.records import Counts
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims
from factloop.evaluation.labels.sampling import (
    FEWEST_BESIDE_SCORES,
    FEWEST_LABELS,
    Floats,
    Pilot,
    probabilities,
    spreads,
)

NAN = float("nan")


def test_probabilities_by_hand() -> None:
    """Spreads 1, 1, 2 of four claims' worth; two draws: 0.9 * s / 4 + 0.1 / 3, twice: 0.517, 0.517, 0.967."""
    found = probabilities(np.array([1.0, 1.0, 2.0]), 2)
    assert found == pytest.approx([2 * (0.225 + 1 / 30), 2 * (0.225 + 1 / 30), 2 * (0.45 + 1 / 30)])
    assert found.sum() == pytest.approx(2)


def test_spreads_by_hand() -> None:
    """Of 16 labels with the verdict 1 fifteen are supported, of four with 0 one is; no scores.

    Rates (15 + 1) / 18 = 8/9 and (1 + 1) / 6 = 1/3, half way to one half 25/36 and 5/12; a stratum is then (15 + 2 *
    25/36) / 18 = 295/324 and (1 + 2 * 5/12) / 6 = 11/36, and the mean of r (1 - r) over its beta distribution is 18/19
    and 6/7 of that.
    """
    pilot = Pilot(np.array([1] * 15 + [0, 1, 0, 0, 0]), np.array([1] * 16 + [0] * 4), np.full(20, NAN))
    found = spreads(np.array([1, 0]), np.array([NAN, NAN]), pilot)
    one, other = 295 / 324, 11 / 36
    expected = [one * (1 - one) * 18 / 19 + (one - 8 / 9) ** 2, other * (1 - other) * 6 / 7 + (other - 1 / 3) ** 2]
    assert found**2 == pytest.approx(expected)
    without = spreads(np.array([1, 1, 0]), np.array([0.5, NAN, 0.9]), None)
    assert without == pytest.approx([0.5, (0.5 + 0.3) / 2, 0.3])


def test_nothing_is_learnt_from_few_labels() -> None:
    """Labels guide the draw from nine on, or from 49 if there are scores, which until then are the better guide."""
    verdicts, scores = np.array([1, 1, 0, 0]), np.array([0.99, 0.6, 0.4, 0.01])

    def learnt(n: int, scores: Floats) -> bool:
        pilot = Pilot(np.arange(n) % 2, np.ones(n, np.int64), np.full(n, scores[0]))
        return not np.array_equal(spreads(verdicts, scores, pilot), spreads(verdicts, scores, None))

    nothing = np.full(4, NAN)
    assert [learnt(n, nothing) for n in (1, FEWEST_LABELS - 1, FEWEST_LABELS)] == [False, False, True]
    assert [learnt(n, scores) for n in (1, FEWEST_BESIDE_SCORES - 1, FEWEST_BESIDE_SCORES)] == [False, False, True]


def test_labels_count_for_the_inverse_of_their_probability_by_hand() -> None:
    """A claim drawn with 1/4 stands for four, one with 1 for itself: labels 1 and 0 are a share of 4/5.

    With verdicts that are always 1 the run adds nothing. TPR of the same by hand: 4 of 4, FPR 1 of 1.
    """
    labelled = LabelledClaims([1, 0, 1, 0], [1, 1, 1, 1], ["a", "b", "c", "d"], [0.25, 1.0, 0.25, 1.0])
    run = JudgedResponses([Counts(supported=3), Counts(supported=2)], ["p", "q"])
    found = debiased_precision(labelled, run)
    assert found.prediction_powered.value == pytest.approx(4 / 5)
    mixed = LabelledClaims([1, 1, 0], [1, 0, 0], ["a", "b", "c"], [0.25, 1.0, 0.5])
    assert debiased_precision(mixed, run).evaluator.tpr == pytest.approx(4 / 5)


@pytest.mark.statistical
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_chosen_labels_hold_the_truth_in_an_interval_at_most_07_times_as_wide(world: JudgeWorld) -> None:
    """Of 100 with a chance of 0.95 each: fewer than 89 come once in 100. Beside as many labels at random.

    A judge with scores tells the claims that it is sure of; by verdicts alone a draw gains less.
    """
    found = compare(world, 100)
    assert found["chosen"].held >= 89
    assert found["chosen"].width <= 0.7 * found["alone"].width
    assert found["chosen"].width <= (0.7 if world.has_scores else 1.0) * found["verdicts"].width
    assert found["chosen"].width < found["scores"].width
