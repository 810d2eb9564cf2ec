"""Limits of one check, beside those that all of a checker share."""

from __future__ import annotations

import asyncio

import pytest

from factloop import ConfigError, DataError, FactChecker, FactualityReport, Limits
from factloop.agents.safe.answer import MOST_CELLS
from factloop.core.records import NoClaim, UnscoredReason
from factloop.tools.calls.budget import LEAST_ANSWERS
from tests.checking.simulated import simulated_checker
from tests.simulator import Faults, Simulator


def reasons(report: FactualityReport) -> set[UnscoredReason | None]:
    return {claim.judgement.unscored_reason for claim in report.claims if claim.judgement.verdict is None}


def text_of(sim: Simulator, n_sentences: int = 3) -> str:
    return " ".join(sim.world.responses[0].sentences[:n_sentences])


async def test_at_its_deadline_a_check_ends_with_what_was_judged(sim: Simulator) -> None:
    """Assessments of claims that the first round left open never come; what it settled is kept."""
    async with simulated_checker(sim) as checker:
        await checker.acheck(sim.world.responses[1].sentences[0])  # starting up takes none of its time
        sim.set(missing_hits=0.5, stage_faults={"Assessment": Faults(hang=1.0)})
        whole = await checker.acheck(text_of(sim, 5), limits=Limits(deadline_s=3.0))
    assert reasons(whole) == {UnscoredReason.TIMEOUT}
    assert 0 < whole.counts.unscored < len(whole.claims)
    assert whole.counts.supported > 0
    late = next(claim for claim in whole.claims if claim.judgement.verdict is None)
    assert late.judgement.rationale == "the check ran into its deadline of 3 s"
    assert late.evidence


async def test_a_deadline_leaves_no_sentence_out_and_no_call_under_way(sim: Simulator) -> None:
    sim.set(llm_latency_s=60.0)
    response = sim.world.responses[0]
    async with simulated_checker(sim) as checker:
        report = await checker.acheck(response.text, response.prompt, limits=Limits(deadline_s=0.5))
    assert reasons(report) == {UnscoredReason.TIMEOUT}
    assert {claim.sentence for claim in report.claims} == set(response.sentences)
    assert sim.stats().stages.keys() <= {"WindowFacts"}
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


@pytest.mark.parametrize("plan", ["fused", "paper", "grounded"])
async def test_each_check_has_calls_of_its_own(sim: Simulator, plan: str) -> None:
    async with simulated_checker(sim, plan=plan) as checker:
        reports = [await checker.acheck(one.text, limits=Limits(max_calls=2)) for one in sim.world.responses[:2]]
    assert [report.usage.calls for report in reports] == [2, 2]
    for report in reports:
        assert UnscoredReason.BUDGET in reasons(report)
        said = {c.judgement.rationale for c in report.claims if c.judgement.unscored_reason is UnscoredReason.BUDGET}
        assert said == {"the budget of this check is used up: 2 calls"}


async def test_a_model_whose_answers_cannot_be_read_is_asked_no_further(sim: Simulator) -> None:
    sim.set(faults=Faults(truncated=1.0))
    text = " ".join(one.text for one in sim.world.responses)
    async with simulated_checker(sim, plan="fused", concurrency=4, price_in=1.0, price_out=1.0) as checker:
        report = await checker.acheck(text)
    sent = sim.stats().model.requests
    assert LEAST_ANSWERS < sent <= len(report.sentences) + LEAST_ANSWERS + 8
    assert reasons(report) == {UnscoredReason.PARSE_FAILURE}
    assert report.usage.calls == sent
    assert report.usage.cost_usd == pytest.approx(1e-6 * (report.usage.prompt_tokens + report.usage.completion_tokens))
    assert any("asked no further (max_unreadable = 0.3)" in one for one in report.warnings)


async def test_rows_of_a_long_table_are_bounded_and_told() -> None:
    table = "\n".join(["| Who | Born |", "|---|---|", *(f"| Bo {number} | {number} |" for number in range(400))])
    report = await FactChecker(cache=False).acheck(table, documents=["Bo 7 was born in 7."])
    left_out = sum(one.no_claim is NoClaim.NOT_READ for one in report.sentences)
    assert (len(report.claims) + left_out, left_out) == (400, 400 - MOST_CELLS // 2)
    assert [one for one in report.warnings if one.startswith(f"{left_out} rows of tables")]


async def test_money_cannot_be_counted_without_a_price(sim: Simulator) -> None:
    async with simulated_checker(sim) as checker:
        with pytest.raises(DataError, match=r"limits.*the price of .* is unknown, so no budget in USD can be kept"):
            await checker.acheck("Ada.", limits=Limits(budget_usd=1.0))
    for limit in ("budget_usd", "budget_usd_per_check"):
        with pytest.raises(ConfigError, match="no budget in USD can be kept: give price_in and price_out"):
            simulated_checker(sim, **{limit: 1.0})
    offline = FactChecker(docs="examples/lighthouse/sources", cache=False)
    assert offline.check("Smeaton built it.", limits=Limits(budget_usd=0.0)).claims


async def test_settings_hold_for_each_check_and_a_request_may_only_be_tighter(sim: Simulator) -> None:
    async with simulated_checker(sim, max_calls_per_check=4) as checker:
        for limits, n_calls in ((None, 4), (Limits(max_calls=3), 3), (Limits(max_calls=400), 4)):
            report = await checker.acheck(sim.world.responses[0].text, limits=limits)
            assert report.usage.calls == n_calls
            assert UnscoredReason.BUDGET in reasons(report)
