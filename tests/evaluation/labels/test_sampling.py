"""Which claims to label next: probabilities by hand, a draw that keeps to them, and narrow intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.chosen_labels import WORLDS, compare, needed_for
from benchmarks.judge_worlds import JudgeWorld
from factloop.core.records import Counts
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims
from factloop.evaluation.labels.sampling import Pilot, labels_needed, probabilities, spreads, systematic_draw

NAN = float("nan")


def test_probabilities_by_hand() -> None:
    """Spreads 1, 1, 2 of four claims' worth; two draws: 0.9 * s / 4 + 0.1 / 3, twice: 0.517, 0.517, 0.967."""
    found = probabilities(np.array([1.0, 1.0, 2.0]), 2)
    assert found == pytest.approx([2 * (0.225 + 1 / 30), 2 * (0.225 + 1 / 30), 2 * (0.45 + 1 / 30)])
    assert found.sum() == pytest.approx(2)


def test_a_claim_that_would_pass_1_is_certain() -> None:
    found = probabilities(np.array([1.0, 1.0, 1.0, 100.0]), 2)
    assert found == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1.0])
    assert probabilities(np.ones(3), 5).tolist() == [1.0, 1.0, 1.0]


def test_spreads_by_hand() -> None:
    """Of ten labels with the verdict 1 nine are supported, of four with 0 one is; no scores.

    Rates (9 + 1) / 12 = 5/6 and (1 + 1) / 6 = 1/3, half way to one half 2/3 and 5/12; a stratum is then (9 + 2 * 2/3) /
    12 = 31/36 and (1 + 2 * 5/12) / 6 = 11/36, and the mean of r (1 - r) over its beta distribution is 12/13 and 6/7 of
    that.
    """
    pilot = Pilot(np.array([1] * 9 + [0, 1, 0, 0, 0]), np.array([1] * 10 + [0] * 4), np.full(14, NAN))
    found = spreads(np.array([1, 0]), np.array([NAN, NAN]), pilot)
    one, other = 31 / 36, 11 / 36
    expected = [
        one * (1 - one) * 12 / 13 + (one - 5 / 6) ** 2,
        other * (1 - other) * 6 / 7 + (other - 1 / 3) ** 2,
    ]
    assert found**2 == pytest.approx(expected)
    without = spreads(np.array([1, 1, 0]), np.array([0.5, NAN, 0.9]), None)
    assert without == pytest.approx([0.5, (0.5 + 0.3) / 2, 0.3])


def test_every_claim_is_drawn_as_often_as_its_probability_says() -> None:
    """4,000 draws of 3 of 6: the share of each claim lies within four standard errors, at most 0.032."""
    chance = np.array([0.9, 0.1, 0.5, 0.5, 0.3, 0.7])
    rng = np.random.default_rng(0)
    drawn = [systematic_draw(chance, rng) for _ in range(4000)]
    assert {len(one) for one in drawn} == {3}
    assert all(len({*one.tolist()}) == 3 for one in drawn)
    shares = np.bincount(np.concatenate(drawn), minlength=6) / 4000
    assert shares == pytest.approx(chance, abs=0.032)


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
    with pytest.raises(ValueError, match="a probability is above 0"):
        LabelledClaims([1], [1], None, [0.0])


def test_even_probabilities_change_nothing() -> None:
    given = ([1, 0, 1, 1] * 10, [1, 0, 0, 1] * 10, [str(n // 4) for n in range(40)])
    run = JudgedResponses([Counts(supported=3, not_supported=1)] * 9, [f"r{n}" for n in range(9)])
    assert debiased_precision(LabelledClaims(*given, [0.2] * 40), run) == debiased_precision(
        LabelledClaims(*given), run
    )


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


def test_the_labels_needed_give_the_width_asked_for() -> None:
    for world in WORLDS:
        n, half = needed_for(world, 0.03)
        assert n is not None
        assert half == pytest.approx(0.03, rel=0.2)
    assert labels_needed(np.ones(4), np.array([1, 0, 1, 0]), 0.01, ["a", "a", "b", "b"]) is not None
    assert labels_needed(np.ones(4), np.array([1, 1, 0, 0]), 0.01, ["a", "a", "b", "b"]) is None, "two prompts apart"
