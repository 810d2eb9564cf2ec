"""Limits of one check, beside those that all of a checker share."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from factloop import ConfigError, DataError, FactChecker, FactualityReport, Limits
from factloop.core.events import CheckFinished
from factloop.core.records import UnscoredReason
from factloop.integrations.langchain import FactCheckRunnable
from factloop.tools.search.base import SearchHit, SearchTool
from tests.checking.simulated import simulated_checker
from tests.simulator import Faults, Simulator

OPENS_IN_S = 0.5
DOCUMENT = "Ada Lovelace was born in London in 1815."


def reasons(report: FactualityReport) -> set[UnscoredReason | None]:
    return {claim.judgement.unscored_reason for claim in report.claims if claim.judgement.verdict is None}


def text_of(sim: Simulator, n_sentences: int = 3) -> str:
    return " ".join(sim.world.responses[0].sentences[:n_sentences])


def test_a_limit_that_is_cut_is_said_to_its_last_digit() -> None:
    said = Limits(max_calls=1_000_001, deadline_s=900).cut_to(Limits(max_calls=1_000_000, deadline_s=0.25))
    rest = "the most that a check is given here"
    assert said == (
        f"deadline_s: 900 was asked for; 0.25 holds, {rest}",
        f"max_calls: 1000001 was asked for; 1000000 holds, {rest}",
    )


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
    assert sim.stats().stages.keys() <= {"SentenceFacts"}
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_one_checks_deadline_takes_no_answer_from_another(sim: Simulator) -> None:
    """They ask the same at the same moment, so the calls are shared."""
    sim.set(llm_latency_s=1.0)
    async with simulated_checker(sim, max_searches=1) as checker:
        hasty, patient = await asyncio.gather(
            checker.acheck(text_of(sim), limits=Limits(deadline_s=0.5)), checker.acheck(text_of(sim))
        )
    assert reasons(hasty) == {UnscoredReason.TIMEOUT}
    assert reasons(patient) == set()


@pytest.mark.parametrize(
    ("limits", "prices"),
    [
        (Limits(max_calls=1), {}),
        (Limits(max_calls=0), {}),
        (Limits(budget_usd=0.02), {"price_in": 1.0, "price_out": 1.0, "max_tokens": 200}),
        (Limits(budget_usd=0.001), {"price_in": 0.0, "price_out": 0.0}),  # one search
    ],
    ids=["calls", "no calls", "money", "money for searches"],
)
async def test_one_checks_limits_take_no_answer_from_another(
    sim: Simulator, limits: Limits, prices: dict[str, Any]
) -> None:
    """They ask the same at the same moment, and the one with the limits asks first."""
    sim.set(llm_latency_s=0.05, search_latency_s=0.05)
    async with simulated_checker(sim, **prices) as checker:
        assert checker.tools  # opened: else the first to ask would wait for it
        limited, free = await asyncio.gather(
            checker.acheck(text_of(sim, 6), limits=limits), checker.acheck(text_of(sim, 6))
        )
    assert UnscoredReason.BUDGET in reasons(limited)
    said = {c.judgement.rationale for c in limited.claims if c.judgement.unscored_reason is UnscoredReason.BUDGET}
    assert all(rationale.startswith("the budget of this check is used up") for rationale in said)
    assert reasons(free) == set()
    assert free.counts.supported > 0


async def test_the_budget_of_all_checks_ends_all(sim: Simulator) -> None:
    async with simulated_checker(sim, max_calls=2) as checker:
        reports = await asyncio.gather(
            checker.acheck(text_of(sim, 6), limits=Limits(max_calls=50)), checker.acheck(text_of(sim, 6))
        )
    for report in reports:
        said = {c.judgement.rationale for c in report.claims if c.judgement.unscored_reason is UnscoredReason.BUDGET}
        assert said == {"the budget is used up: 2 calls"}
    assert sum(report.usage.calls for report in reports) == 2


@pytest.mark.parametrize("plan", ["fused", "paper", "grounded"])
async def test_each_check_has_calls_of_its_own(sim: Simulator, plan: str) -> None:
    async with simulated_checker(sim, plan=plan) as checker:
        reports = [await checker.acheck(one.text, limits=Limits(max_calls=2)) for one in sim.world.responses[:2]]
    assert [report.usage.calls for report in reports] == [2, 2]
    for report in reports:
        assert UnscoredReason.BUDGET in reasons(report)
        said = {c.judgement.rationale for c in report.claims if c.judgement.unscored_reason is UnscoredReason.BUDGET}
        assert said == {"the budget of this check is used up: 2 calls"}


async def test_money_is_counted_by_check(sim: Simulator) -> None:
    async with simulated_checker(sim, price_in=10.0, price_out=10.0, max_tokens=200) as checker:
        report = await checker.acheck(sim.world.responses[0].text, limits=Limits(budget_usd=0.1))
    assert report.usage.cost_usd is not None
    assert 0.0 < report.usage.cost_usd <= 0.1
    assert "the budget of this check is used up: 0.1 USD" in {claim.judgement.rationale for claim in report.claims}


async def test_money_cannot_be_counted_without_a_price(sim: Simulator) -> None:
    async with simulated_checker(sim) as checker:
        with pytest.raises(DataError, match=r"limits.*the price of .* is unknown, so no budget in USD can be kept"):
            await checker.acheck("Ada.", limits=Limits(budget_usd=1.0))
    async with simulated_checker(sim, budget_usd_per_check=1.0) as checker:
        with pytest.raises(ConfigError, match="give --price-in and --price-out"):
            await checker.acheck("Ada.")
    offline = FactChecker(docs="examples/lighthouse/sources", cache=False)
    assert offline.check("Smeaton built it.", limits=Limits(budget_usd=0.0)).claims


async def test_settings_hold_for_each_check_and_a_request_may_only_be_tighter(sim: Simulator) -> None:
    async with simulated_checker(sim, max_calls_per_check=4) as checker:
        for limits, n_calls in ((None, 4), (Limits(max_calls=3), 3), (Limits(max_calls=400), 4)):
            report = await checker.acheck(sim.world.responses[0].text, limits=limits)
            assert report.usage.calls == n_calls
            assert UnscoredReason.BUDGET in reasons(report)


async def test_the_offline_engine_keeps_a_deadline_too() -> None:
    checker = FactChecker(docs="examples/lighthouse/sources", cache=False)
    report = await checker.acheck("Smeaton built it in 1759.", limits=Limits(deadline_s=1e-9))
    assert reasons(report) == {UnscoredReason.TIMEOUT}


class SlowToOpen(SearchTool):
    """A search that takes its time before it can be used."""

    name: str = "slow"
    description: str = "Finds nothing."

    @property
    def identity(self) -> str:
        time.sleep(OPENS_IN_S)
        return "slow"

    def search(self, query: str, limit: int) -> list[SearchHit]:  # noqa: ARG002 - as SearchTool has it
        return []


async def test_the_seconds_of_a_check_count_from_where_its_deadline_does() -> None:
    report = await FactChecker(search=SlowToOpen(), cache=False).acheck("Smeaton built it in 1759.")
    assert report.usage.wall_s >= OPENS_IN_S
    streamed = [event async for event in FactChecker(search=SlowToOpen(), cache=False).astream("He built it in 1759.")]
    assert isinstance(streamed[-1], CheckFinished)
    assert streamed[-1].report.usage.wall_s >= OPENS_IN_S


async def test_a_stream_of_events_ends_with_the_partial_report(sim: Simulator) -> None:
    sim.set(llm_latency_s=60.0)
    async with simulated_checker(sim) as checker:
        events: list[Any] = [event async for event in checker.astream(text_of(sim), limits=Limits(deadline_s=0.3))]
    assert reasons(events[-1].report) == {UnscoredReason.TIMEOUT}


async def test_a_step_of_a_chain_takes_limits(sim: Simulator) -> None:
    sim.set(llm_latency_s=60.0)
    async with simulated_checker(sim, search=()) as checker:
        check = FactCheckRunnable(checker, limits=Limits(deadline_s=0.3))
        asked = {"answer": text_of(sim), "documents": [DOCUMENT]}
        assert reasons(await check.ainvoke(asked)) == {UnscoredReason.TIMEOUT}
        assert reasons([event async for event in check.astream(asked)][-1]) == {UnscoredReason.TIMEOUT}
