"""Demands for continuous integration: a loss that is shown, a loss that is not ruled out, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.comparing.demands import (
    Demand,
    DemandedDifference,
    judge_demands,
    read_demand,
    refuse_demands,
)
from factloop.evaluation.comparing.differences import contrast
from factloop.evaluation.comparing.paired import Items
from factloop.evaluation.comparing.records import Quantity
from factloop.evaluation.comparing.table import ItemValues
from factloop.evaluation.statistics.stratified_means import StratifiedMean, clustered_mean


def gain(values: list[float]) -> StratifiedMean:
    """Every item is a group of its own."""
    return clustered_mean(np.asarray(values), np.arange(len(values)), len(values))


def demanded(
    values: list[float] | None, margin: float | None = None, second: str = "new", metric: str = "tnr"
) -> DemandedDifference:
    """`values` are how much higher the second side is on each item."""
    found = None
    if values is not None:
        sides = np.array([[0.0] * len(values), values])
        items = Items.of_clusters(np.arange(len(values)), max(1, len(values)))
        quantity = ItemValues(Quantity(metric), sides, np.ones(len(values), np.bool_), items)
        found = contrast(quantity, 0, 1)
    return DemandedDifference(Demand(metric, None, margin), "old", second, "claims", "group", found)


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
    assert (
        lost.words
        == "new against old in TNR: a loss is shown (−0.250, one-sided p = 0.031, n = 20 claims from 20 groups)"
    )
    assert (not_lost.p, not_lost.is_met) == (1 / 16, True)
    assert "no loss shown" in not_lost.words


def test_a_loss_that_is_ruled_out_by_hand() -> None:
    """Five zeros with a margin are five margins: of 32 ways to turn them one is as high, p = 1/32. Of four p = 1/16."""
    five, four = (judge_demands([demanded([0.0] * n, 0.1)], alpha=0.05, seed=0)[0] for n in (5, 4))
    assert (five.p, five.is_met) == (1 / 32, True)
    assert "a loss of 0.100 or more is ruled out" in five.words
    assert (four.p, four.is_met) == (1 / 16, False)
    assert "a loss of 0.100 or more is not ruled out" in four.words


def test_several_losses_are_adjusted_and_margins_are_not() -> None:
    """Two variants lose five claims each: 2/32 of either. A third that lost one cannot be as small."""
    lost = [-1.0] * 5 + [0.0] * 15
    both = [demanded(lost, second="a"), demanded(lost, second="b"), demanded([-1.0] + [0.0] * 19, second="c")]
    found = judge_demands([*both, demanded([0.0] * 5, 0.1)], alpha=0.05, seed=0)
    assert [one.p_corrected for one in found] == [2 / 32, 2 / 32, 1 / 2, 1 / 32]
    assert [one.is_met for one in found] == [True, True, True, True]
    assert "one-sided p = 0.031, 0.062 adjusted" in found[0].words


def test_what_cannot_be_tested_is_not_met() -> None:
    found = judge_demands([demanded(None), demanded(None, 0.1), demanded([])], alpha=0.05, seed=0)
    assert len(found) == 3
    for one in found:
        assert (one.is_met, one.p, one.loss) == (False, None, None)
        assert "cannot be tested" in one.words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f1", "of variants there is balanced_accuracy, accuracy, tpr, tnr, unscored_share, cost_usd, tokens"),
        ("tnr@5", "there is"),
        ("tnr:5", "the margin of a share is below 1: 0.05 is five points"),
    ],
)
def test_metrics_that_are_not_compared_are_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        refuse_demands([read_demand(text)])
