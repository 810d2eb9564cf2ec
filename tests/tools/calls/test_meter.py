from __future__ import annotations

import pytest

from factloop.core.records import Usage
from factloop.tools.calls.meter import CallCost, UsageMeter

KNOWN = CallCost(prompt_tokens=100, completion_tokens=20, approximate=False, cost_usd=0.5)
UNPRICED = CallCost(prompt_tokens=10, completion_tokens=2, approximate=True, cost_usd=None)


def test_a_run_is_the_sum_of_its_stages() -> None:
    meter = UsageMeter()
    meter.called("split", KNOWN, wall_s=1.0)
    meter.called("split", KNOWN, wall_s=2.0)
    meter.called("rate", KNOWN, wall_s=4.0)
    meter.searched("search", wall_s=8.0, cost_usd=0.25)
    meter.failed("rate", wall_s=16.0)
    meter.hit("rate")
    usage = meter.snapshot(elapsed_s=3.0)
    assert (usage.calls, usage.failed_calls, usage.cache_hits, usage.searches) == (3, 1, 1, 1)
    assert (usage.prompt_tokens, usage.completion_tokens) == (300, 60)
    assert usage.cost_usd == pytest.approx(1.75)
    assert usage.wall_s == 3.0
    assert list(usage.stages) == ["rate", "search", "split"]
    assert usage.stages["rate"].wall_s == 20.0
    assert usage.stages["split"].cost_usd == pytest.approx(1.0)
    assert not usage.approximate_tokens


def test_nothing_done_costs_nothing() -> None:
    assert UsageMeter().snapshot(1.5) == Usage(cost_usd=0.0, wall_s=1.5)


def test_a_cache_hit_costs_nothing() -> None:
    meter = UsageMeter()
    meter.hit("rate")
    usage = meter.snapshot(0.0)
    assert (usage.cache_hits, usage.calls, usage.cost_usd) == (1, 0, 0.0)


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    meter = UsageMeter()
    meter.called("rate", KNOWN, wall_s=0.0)
    meter.searched("search", wall_s=0.0, cost_usd=None)
    usage = meter.snapshot(0.0)
    assert usage.cost_usd is None
    assert usage.stages["rate"].cost_usd == 0.5


@pytest.mark.parametrize("prices", [(0.1, None), (None, 0.1)])
def test_one_unknown_price_makes_its_stage_unknown(prices: tuple[float | None, float | None]) -> None:
    meter = UsageMeter()
    for price in prices:
        meter.searched("search", wall_s=0.0, cost_usd=price)
    assert meter.snapshot(0.0).stages["search"].cost_usd is None


def test_one_estimate_makes_the_tokens_approximate() -> None:
    meter = UsageMeter()
    meter.called("split", UNPRICED, wall_s=0.0)
    meter.called("rate", KNOWN, wall_s=0.0)
    usage = meter.snapshot(0.0)
    assert usage.approximate_tokens
    assert not usage.stages["rate"].approximate_tokens


def test_a_snapshot_does_not_move_with_the_meter() -> None:
    meter = UsageMeter()
    meter.called("rate", KNOWN, wall_s=0.0)
    before = meter.snapshot(0.0)
    meter.called("rate", KNOWN, wall_s=0.0)
    assert before.stages["rate"].calls == 1


def test_costs_add_up_and_an_unknown_one_spoils_the_sum() -> None:
    twice, mixed = KNOWN + KNOWN, KNOWN + UNPRICED
    assert twice == CallCost(200, 40, False, 1.0)
    assert mixed == CallCost(110, 22, True, None)


def test_accounts_that_are_taken_over_add_up_to_one() -> None:
    whole, total = UsageMeter(), UsageMeter()
    for stage, cost in (("rate", KNOWN), ("split", KNOWN), ("rate", UNPRICED), ("split", KNOWN)):
        part = UsageMeter()
        for meter in (whole, part):
            meter.called(stage, cost, wall_s=1.0)
            meter.searched("search", wall_s=2.0, cost_usd=0.25)
            meter.failed(stage, wall_s=4.0)
            meter.hit(stage)
        total.add(part.snapshot(0.0))
    assert total.snapshot(9.0) == whole.snapshot(9.0)
    stages = total.snapshot(9.0).stages
    assert (stages["rate"].calls, stages["rate"].cost_usd, stages["rate"].approximate_tokens) == (2, None, True)
    assert (stages["split"].cost_usd, stages["search"].cost_usd, stages["search"].searches) == (1.0, 1.0, 4)


def test_an_account_of_nothing_adds_nothing() -> None:
    total = UsageMeter()
    total.called("rate", KNOWN, wall_s=1.0)
    before = total.snapshot(0.0)
    total.add(UsageMeter().snapshot(5.0))
    assert total.snapshot(0.0) == before


def test_a_call_that_was_given_up_counts_with_the_most_that_it_may_cost() -> None:
    meter = UsageMeter()
    meter.called("rate", KNOWN, wall_s=1.0)
    meter.given_up("rate", CallCost(400, 1_024, approximate=True, cost_usd=2.0), wall_s=4.0)
    meter.given_up("search", CallCost(0, 0, approximate=False, cost_usd=0.25), wall_s=8.0)
    usage = meter.snapshot(0.0)
    assert (usage.calls, usage.failed_calls, usage.searches) == (1, 2, 0)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.approximate_tokens) == (500, 1_044, True)
    assert usage.cost_usd == pytest.approx(2.75)
    assert usage.stages["rate"].wall_s == 5.0
