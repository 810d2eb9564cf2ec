"""Demands for continuous integration: a loss that is shown, a loss that is not ruled out, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.comparing.demands import Demand, DemandedDifference, groups_needed, judge_demands, read_demand
from factloop.evaluation.comparing.words import points
from factloop.evaluation.statistics.stratified_means import StratifiedMean, clustered_mean


def gain(values: list[float]) -> StratifiedMean:
    """Every item is a group of its own."""
    return clustered_mean(np.asarray(values), np.arange(len(values)), len(values))


def shown(value: float) -> str:
    return f"{points(value)} points"


def demanded(values: list[float] | None, margin: float | None = None, second: str = "new") -> DemandedDifference:
    found = None if values is None else gain(values)
    return DemandedDifference(
        Demand("tnr", None, margin), "old", second, found, "TNR", shown, f"n = {len(values or [])}"
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("tnr", Demand("tnr")),
        ("balanced_accuracy:0.05", Demand("balanced_accuracy", None, 0.05)),
        ("f1@64:0.02", Demand("f1", 64, 0.02)),
        (" cost_usd:1e-4 ", Demand("cost_usd", None, 0.0001)),
    ],
)
def test_demands_are_read(text: str, wanted: Demand) -> None:
    assert read_demand(text) == wanted


@pytest.mark.parametrize(
    "text", ["", "tnr:", "tnr:0", "tnr:-0.1", "tnr:nan", "tnr:inf", "tnr:much", "f1@0", "TNR", "a b"]
)
def test_what_is_no_demand_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--fail-if-worse"):
        read_demand(text)


def test_a_loss_that_is_shown_by_hand() -> None:
    """Five of 20 lost, none won: one-sided p = 1/32 = 0.031, at most 0.05. Of four lost it is 1/16."""
    lost, not_lost = judge_demands([demanded([-1.0] * 5 + [0.0] * 15)], alpha=0.05, seed=0) + judge_demands(
        [demanded([-1.0] * 4 + [0.0] * 16)], alpha=0.05, seed=0
    )
    assert (lost.p, lost.is_met, lost.loss) == (1 / 32, False, 0.25)
    assert lost.words == "new against old in TNR: a loss is shown (−25.0 points, one-sided p = 0.031, n = 20)"
    assert (not_lost.p, not_lost.is_met) == (1 / 16, True)
    assert "no loss shown" in not_lost.words


def test_a_loss_that_is_ruled_out_by_hand() -> None:
    """Five zeros with a margin are five margins: of 32 ways to turn them one is as high, p = 1/32. Of four p = 1/16."""
    five, four = (judge_demands([demanded([0.0] * n, 0.1)], alpha=0.05, seed=0)[0] for n in (5, 4))
    assert (five.p, five.is_met) == (1 / 32, True)
    assert "a loss of 10.0 points or more is ruled out" in five.words
    assert (four.p, four.is_met) == (1 / 16, False)
    assert "a loss of 10.0 points or more is not ruled out" in four.words


def test_a_gain_rules_a_loss_out_and_a_loss_does_not() -> None:
    better, worse = (judge_demands([demanded([v] * 8 + [0.0] * 8, 0.05)], alpha=0.05, seed=0)[0] for v in (1.0, -1.0))
    assert (better.is_met, better.loss) == (True, -0.5)
    assert (worse.is_met, worse.loss) == (False, 0.5)


def test_several_losses_are_adjusted_and_margins_are_not() -> None:
    """Two variants lose five claims each: 2/32 of either. A third that lost one cannot be as small."""
    lost = [-1.0] * 5 + [0.0] * 15
    both = [demanded(lost, second="a"), demanded(lost, second="b"), demanded([-1.0] + [0.0] * 19, second="c")]
    found = judge_demands([*both, demanded([0.0] * 5, 0.1)], alpha=0.05, seed=0)
    assert [one.p_corrected for one in found] == [2 / 32, 2 / 32, 1 / 2, 1 / 32]
    assert [one.is_met for one in found] == [True, True, True, True]
    assert "one-sided p = 0.031, 0.062 adjusted" in found[0].words


def test_what_cannot_be_said_is_not_met() -> None:
    found = judge_demands([demanded(None), demanded(None, 0.1), demanded([])], alpha=0.05, seed=0)
    assert len(found) == 3
    for one in found:
        assert (one.is_met, one.p, one.loss) == (False, None, None)
        assert "cannot be said" in one.words


def test_the_groups_needed_by_hand() -> None:
    """100 groups of +1 and -1: SE 0.1005. For 0.1: 100 (2.486 * 0.1005 / 0.1)^2 = 625, with 1.645 + 0.842 = 2.486."""
    assert groups_needed(gain([1.0, -1.0] * 50), 0.1, alpha=0.05) == 625
    assert groups_needed(gain([0.0] * 50), 0.1, alpha=0.05) == 5, "2^-5 is below 0.05, 2^-4 is not"
    assert groups_needed(gain([1.0]), 0.1, alpha=0.05) is None


@pytest.mark.statistical
def test_a_side_that_is_as_good_meets_the_demand_by_so_many_groups_four_times_of_five() -> None:
    """And one that loses just the margin meets it in 5 % of cases: of 400, 32 or more come once in 200."""
    rng = np.random.default_rng(0)
    met = {0.0: 0, -0.2: 0}
    for shift in met:
        for _ in range(400):
            values = rng.choice([-1.0, 0.0, 1.0], 155, p=[0.25 - shift / 2, 0.5, 0.25 + shift / 2])
            met[shift] += judge_demands([demanded(list(values), 0.2)], alpha=0.05, seed=0)[0].is_met
    assert met[0.0] >= 300
    assert met[-0.2] <= 31
