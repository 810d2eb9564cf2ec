from __future__ import annotations

import pytest

from factloop.tools.calls.meter import CallCost, UsageMeter

KNOWN = CallCost(prompt_tokens=100, completion_tokens=20, approximate=False, cost_usd=0.5)
UNPRICED = CallCost(prompt_tokens=10, completion_tokens=2, approximate=True, cost_usd=None)


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
