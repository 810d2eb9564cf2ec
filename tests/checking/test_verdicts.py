from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest

from factloop import FactualityReport, UnscoredReason
from factloop.checking.estimate import estimate, length_of_documents
from factloop.core.events import CheckFinished, Event, ServerWait
from factloop.core.factuality import count_verdicts
from factloop.setup.settings import CheckSettings
from tests.checking.simulated import simulated_checker
from tests.simulator import MODEL, SEARCH, Faults, Response, Simulator
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


FACTOR = 2.0


@pytest.mark.statistical
@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_the_estimate_is_within_a_factor_of_two(sim: Simulator, plan: Literal["fused", "paper"]) -> None:
    response = sim.world.responses[2]
    settings = CheckSettings(model=MODEL, base_url=sim.base_url, search=("serper",), plan=plan)
    expected = estimate(settings, response.text, response.prompt)
    assert sim.stats().stages == {}
    async with simulated_checker(sim, plan=plan) as checker:
        usage = (await checker.acheck(response.text, response.prompt)).usage
    for name in ("calls", "searches", "prompt_tokens", "completion_tokens"):
        ratio = getattr(expected, name) / getattr(usage, name)
        assert 1 / FACTOR <= ratio <= FACTOR, name


def test_cost_is_known_only_where_all_prices_are() -> None:
    text = "Rome is in Italy. Oslo is in Norway."
    priced = estimate(CheckSettings(model="openai:x", price_in=1.0, price_out=2.0, docs=("d",)), text, None)
    assert priced.cost_usd == pytest.approx((priced.prompt_tokens + 2 * priced.completion_tokens) / 1e6)
    assert estimate(CheckSettings(model="openai:x", docs=("d",)), text, None).cost_usd is None
    assert estimate(CheckSettings(docs=("d",)), text, None).cost_usd == 0.0
    assert estimate(CheckSettings(search=("serper",)), text, None).cost_usd == pytest.approx(0.002)  # of two queries


def test_grounded_searches_long_documents_and_shows_short_ones_whole(tmp_path: Path) -> None:
    text = "Rome is in Italy. Oslo is in Norway. " * 5
    settings = CheckSettings(model="openai:x", docs=("d",), plan="grounded")
    told = estimate(settings, text, None)
    assert (told.n_sentences, told.n_claims) == (10, 10)
    assert told.searches == 10 + 3  # 3 of 10 claims are looked at again
    (tmp_path / "short.md").write_text("Rome is the capital of Italy.", encoding="utf-8")
    assert length_of_documents(CheckSettings(docs=(str(tmp_path),))) == len("Rome is the capital of Italy.")
    whole = estimate(settings, text, None, n_characters=9_000)
    assert (whole.calls, whole.searches) == (1, 0)  # short documents are shown whole: no second look, and no search
    both = estimate(settings.model_copy(update={"search": ("wikipedia",)}), text, None)
    assert both.searches == 2 * told.searches


def test_the_offline_engine_calls_no_model() -> None:
    offline = estimate(CheckSettings(docs=("d",)), "Rome is in Italy.", "Where is Rome?")
    assert (offline.calls, offline.prompt_tokens, offline.n_claims) == (0, 0, 1)


def test_an_answer_a_little_too_long_is_counted_whole_and_of_a_longer_one_an_excerpt() -> None:
    def tokens_a_call(n_characters: int) -> float:
        text = "Rome is in Italy. " * (n_characters // 18)
        told = estimate(CheckSettings(model="openai:x", search=("serper",), plan="paper"), text, None)
        return told.prompt_tokens / told.calls

    assert tokens_a_call(7_100) > 1.03 * tokens_a_call(5_900)
    assert tokens_a_call(7_300) == pytest.approx(tokens_a_call(5_900), rel=0.01)


PATIENCE_S = 2.0
REFUSING = {SEARCH: Faults(error_429=1.0)}
NOTHING = f"has not accepted a request for {PATIENCE_S:g} s (the last answer: status 429)"


@pytest.fixture
def response(sim: Simulator) -> Response:
    sim.set(retry_after="none")
    return min(sim.world.responses, key=lambda response: len(response.facts))


def failures(report: FactualityReport) -> set[tuple[UnscoredReason | None, str]]:
    needing = (claim.judgement for claim in report.claims if claim.relevant is not False)
    return {(judgement.unscored_reason, judgement.rationale) for judgement in needing}


async def events_of(sim: Simulator, response: Response, **settings: Any) -> list[Event]:
    async with simulated_checker(sim, patience_s=PATIENCE_S, **settings) as checker:
        return [event async for event in checker.astream(response.text, response.prompt)]


@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_a_search_that_refuses_everything_is_waited_for_once_and_said_to_be(
    sim: Simulator, response: Response, plan: str
) -> None:
    sim.set(stage_faults=REFUSING)
    events = await events_of(sim, response, plan=plan)
    waits = [event for event in events if isinstance(event, ServerWait)]
    assert waits
    assert {(one.server, one.patience_s, one.cause) for one in waits} == {("serper", PATIENCE_S, "status 429")}
    assert [one.waited_s for one in waits] == sorted(one.waited_s for one in waits)
    last = events[-1]
    assert isinstance(last, CheckFinished)
    assert failures(last.report) == {(UnscoredReason.TOOL_FAILURE, f"serper: {NOTHING}")}
    assert sim.stats().search.answered == 0


async def test_a_model_that_refuses_all_leaves_every_sentence_unscored(sim: Simulator, response: Response) -> None:
    sim.set(faults=Faults(error_429=1.0))
    events = await events_of(sim, response)
    assert {event.server for event in events if isinstance(event, ServerWait)} == {"openai:sim"}
    last = events[-1]
    assert isinstance(last, CheckFinished)
    assert failures(last.report) == {(UnscoredReason.TOOL_FAILURE, f"openai:sim: {NOTHING}")}
    assert len(last.report.claims) == len(response.sentences)


async def test_responses_checked_together_are_patient_together(sim: Simulator) -> None:
    sim.set(stage_faults=REFUSING, retry_after="none")
    responses = sim.world.responses[1:5]
    async with simulated_checker(sim, patience_s=PATIENCE_S) as checker:
        reports = await asyncio.gather(*(checker.acheck(one.text, one.prompt) for one in responses))
        sent = sim.stats().search.requests
        late = await checker.acheck(sim.world.responses[6].text, sim.world.responses[6].prompt)
    assert set.union(*map(failures, reports)) == {(UnscoredReason.TOOL_FAILURE, f"serper: {NOTHING}")}
    assert failures(late) == failures(reports[0])
    assert sim.stats().search.requests <= sent + 1  # a trial, on a slow machine
