"""Simulated experiments, a small part of `benchmarks.experiment_errors`: seeds are fixed, so that nothing is chance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.experiment_errors import (
    COVERED,
    SMALL_POWERS,
    share_covered,
    share_found,
)

MOST = 13
"""Of 150 with a chance of 0.05 each: more come once in 50 (binomial survival at 13: 0.019)."""


def test_idle_variants_take_no_power_from_one_that_is_better() -> None:
    """Four variants that judge as the baseline does: as many are found as without them, where Holm's method loses."""
    world = SMALL_POWERS[1]
    alone = replace(world, idle=0)
    found, by_holm = share_found(world, 60)
    assert found == share_found(alone, 60)[0]
    assert found >= by_holm + 0.1


@pytest.mark.statistical
def test_intervals_hold_the_true_differences_and_contradict_no_verdict() -> None:
    """Of 100 with a chance of 0.95 each: fewer than 89 come once in 100 (binomial distribution at 88: 0.004)."""
    share, n_contradictory = share_covered(COVERED[1], 100)
    assert share >= 0.89
    assert n_contradictory == 0
