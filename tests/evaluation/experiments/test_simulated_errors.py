"""A small part of `benchmarks.experiment_errors`, with fixed seeds so that no result is left to chance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.experiment_errors import (
    COVERED,
    EQUAL,
    GATED,
    SMALL_POWERS,
    World,
    contradicts,
    covers,
    fails,
    finds,
    passes,
    rules_out_at_a_look,
    share,
    shows_at_a_look,
)


def test_idle_variants_take_no_power_from_one_that_is_better() -> None:
    """Adding four variants that judge as the baseline does leaves as many differences found."""
    world = SMALL_POWERS[1]
    assert share(finds, world, 60) == share(finds, replace(world, idle=0), 60) > 0.4


@pytest.mark.statistical
def test_intervals_hold_the_true_differences_and_contradict_no_verdict() -> None:
    """Of 100 with a chance of 0.95 each: fewer than 89 come once in 100 (binomial distribution at 88: 0.004)."""
    assert share(covers, COVERED[1], 100) >= 0.89
    assert share(contradicts, COVERED[1], 100) == 0


@pytest.mark.statistical
@pytest.mark.parametrize("world", [*GATED[3:], EQUAL[2]], ids=lambda world: world.name)
def test_the_gate_errs_as_rarely_as_it_says_whatever_has_no_verdict(world: World) -> None:
    """Of 100 with a chance of 0.05 (0.1) each more than 10 (17) come once in 90 (100): binomial survival .011, .010."""
    measure, most = (fails, 0.17) if world in EQUAL else (passes, 0.1)
    assert share(measure, world, 100) <= most


@pytest.mark.statistical
def test_looking_four_times_errs_as_rarely_as_looking_once() -> None:
    """Of 100 with a chance of 0.05 each more than 10 come once in 90 (binomial survival .011)."""
    assert share(shows_at_a_look, EQUAL[0], 100) <= 0.1
    assert share(rules_out_at_a_look, GATED[0], 100) <= 0.1
