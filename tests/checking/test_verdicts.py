"""Whole checks against a world whose truth is known: right verdicts, and nothing lost whatever goes wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from factloop import FactualityReport, UnscoredReason
from factloop.core.factuality import count_verdicts
from tests.checking.simulated import simulated_checker
from tests.simulator import Faults, Response, Simulator
from tests.simulator.scoring import Score, score

TARGET = 0.985
FAULTS = Faults(error_500=0.2, malformed=0.05, truncated=0.02, refusal=0.01)


async def check_all(sim: Simulator, responses: tuple[Response, ...], **settings: Any) -> list[FactualityReport]:
    async with simulated_checker(sim, **settings) as checker:
        checks = (checker.acheck(response.text, response.prompt) for response in responses)
        return list(await asyncio.gather(*checks))


def total(reports: list[FactualityReport], responses: tuple[Response, ...]) -> Score:
    scores = (score(report.claims, response.facts) for report, response in zip(reports, responses, strict=True))
    return sum(scores, Score())


PLANS = [
    pytest.param({"plan": "fused"}, id="fused"),
    pytest.param({"plan": "fused", "tool_calling": False}, id="without tools"),
    pytest.param({"plan": "paper"}, id="paper", marks=pytest.mark.statistical),  # some 300 calls for each report
]


@pytest.mark.parametrize("settings", PLANS)
async def test_verdicts_are_those_of_the_world(sim: Simulator, settings: dict[str, Any]) -> None:
    responses = sim.world.responses[1:4]
    reports = await check_all(sim, responses, **settings)
    result = total(reports, responses)
    assert result.n_lost == result.n_failed == result.n_unscored == 0
    assert result.agreement is not None
    assert result.agreement >= TARGET
    for report in reports:
        assert report.counts == count_verdicts(report.claims)
        assert report.counts.unscored == 0
        assert all(report.response[slice(*claim.span)] == claim.sentence for claim in report.claims)
        assert [claim.id for claim in report.claims] == list(dict.fromkeys(claim.id for claim in report.claims))


@pytest.mark.parametrize("settings", PLANS)
async def test_faults_lose_no_fact_and_turn_no_failure_into_a_verdict(sim: Simulator, settings: dict[str, Any]) -> None:
    sim.set(faults=FAULTS)
    responses = sim.world.responses[1:3]
    result = total(await check_all(sim, responses, **settings), responses)
    assert result.n_lost == 0
    assert result.n_matched + result.n_failed == result.n_facts
    assert result.n_equal >= TARGET * (result.n_matched - result.n_unscored)
    assert sim.stats().model.failed > 0


async def test_hits_that_go_missing_are_searched_for_again(sim: Simulator) -> None:
    sim.set(missing_hits=0.5)
    responses = sim.world.responses[1:3]
    reports = await check_all(sim, responses)
    result = total(reports, responses)
    assert result.n_lost == 0
    assert result.n_equal >= 0.9 * result.n_facts
    retried = [claim for report in reports for claim in report.claims if len(claim.queries) > 1]
    assert retried
    assert {len(claim.queries) for claim in retried} <= {3, 5}
    assert all(len(claim.missing) == len(claim.queries) // 2 for claim in retried)


@pytest.mark.statistical
async def test_the_paper_plan_asks_once_a_stage_and_searches_five_times_at_most(sim: Simulator) -> None:
    (response,) = responses = sim.world.responses[1:2]
    (report,) = await check_all(sim, responses, plan="paper")
    stats, checked = sim.stats(), [claim for claim in report.claims if claim.duplicate_of is None]
    searched = [claim for claim in checked if claim.relevant]
    assert stats.stages["AtomicFacts"].requests == len(response.sentences)
    assert stats.stages["Rating"].requests == len(searched)
    assert {len(claim.queries) for claim in searched} <= set(range(1, 6))
    assert stats.search.requests <= 5 * len(searched)
    assert report.usage.calls == stats.model.answered
    assert report.usage.searches == stats.search.answered
    assert report.usage.prompt_tokens == stats.model.prompt_tokens
    assert report.usage.completion_tokens == stats.model.completion_tokens
    assert not report.usage.approximate_tokens


@pytest.mark.parametrize("max_calls", [0, 1, 12])
async def test_a_budget_is_never_passed_and_leaves_the_rest_unscored(sim: Simulator, max_calls: int) -> None:
    (response,) = responses = sim.world.responses[1:2]
    (report,) = await check_all(sim, responses, max_calls=max_calls)
    assert sim.stats().model.requests == report.usage.calls == max_calls
    assert score(report.claims, response.facts).n_lost == 0
    reasons = {claim.judgement.unscored_reason for claim in report.claims} - {None}
    assert reasons == {UnscoredReason.BUDGET}
    assert report.counts.total == len(report.claims)


async def test_a_model_that_always_refuses_leaves_every_sentence_unscored(sim: Simulator) -> None:
    sim.set(faults=Faults(refusal=1.0))
    (response,) = responses = sim.world.responses[1:2]
    (report,) = await check_all(sim, responses)
    assert len(report.claims) == len(response.sentences)
    assert {claim.judgement.unscored_reason for claim in report.claims} == {UnscoredReason.REFUSAL}
    assert report.precision is None
