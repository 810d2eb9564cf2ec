from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from factloop import TrustScorer
from factloop.agents.trustscore.records import ClaimStanding, LongFormTrustReport
from factloop.core.errors import ConfigError
from factloop.tools.calls.meter import CallCost, UsageMeter
from factloop.trust.long_form import ascore_long_form, missing_scores, with_remaining_limits
from factloop.trust.settings import TrustSettings
from factloop.trust.views.figures import agreement_basis
from factloop.trust.views.html import render_long_form_html
from tests.checking.simulated import simulated_checker, simulated_scorer
from tests.correction.reports import report_of
from tests.simulator import MODEL, Faults, Simulator
from tests.trust.trust_items import known_to, timeless


def standings(report: LongFormTrustReport) -> list[str]:
    return [str(item.standing) for item in report.claims]


async def test_verdict_and_belief_make_four_groups(sim: Simulator) -> None:
    known, unknown = known_to(sim, "known", 2), known_to(sim, "unknown", 2)
    claims = [
        (known[0].answer, "s"),
        (unknown[0].answer, "s"),
        (known[1].answer, "n"),
        (unknown[1].answer, "n"),
        ("It is a lovely day.", "i"),
        (known_to(sim, "known", 3)[2].answer, "u"),
    ]
    async with simulated_scorer(sim) as scorer:
        report = await scorer.ascore_claims(report_of(*claims, prompt="Tell me of these."))
    assert [item.standing for item in report.claims] == [
        ClaimStanding.SUPPORTED_INSISTED,
        ClaimStanding.SUPPORTED_WAVERING,
        ClaimStanding.UNSUPPORTED_INSISTED,
        ClaimStanding.UNSUPPORTED_WAVERING,
        ClaimStanding.UNPLACED,
        ClaimStanding.UNPLACED,
    ]
    assert report.counts == Counter(dict.fromkeys(ClaimStanding, 1) | {ClaimStanding.UNPLACED: 2})
    irrelevant, failed = report.claims[4:]
    assert (irrelevant.trust_bc, irrelevant.why_unplaced) == (None, "SAFE: irrelevant")
    assert (failed.trust_bc is not None, failed.why_unplaced) == (True, "SAFE: timeout")
    assert all(report.factuality.response[slice(*item.claim.span)] == item.claim.sentence for item in report.claims)
    assert report.usage.calls == sim.stats().model.requests
    topics = {body["messages"][-1]["content"].count("Tell me of these.") for body in sim.bodies("McqAnswer")}
    assert topics == {1}


async def test_a_repeated_claim_is_asked_about_once(sim: Simulator) -> None:
    (pair,) = known_to(sim, "known", 1)
    said = report_of((pair.answer, "s"), (pair.answer, "s"))
    again = said.claims[1].model_copy(update={"duplicate_of": said.claims[0].id})
    repeating = said.model_copy(update={"claims": (said.claims[0], again)})
    async with simulated_scorer(sim) as scorer:
        report = await scorer.ascore_claims(repeating)
    first, second = report.claims
    assert first.trust_bc == second.trust_bc
    assert standings(report) == ["supported_insisted"] * 2
    assert sim.stats().model.requests == 10


async def test_a_belief_that_cannot_be_had_leaves_the_claim_unplaced(sim: Simulator) -> None:
    sim.set(faults=Faults(refusal=1.0))
    (pair,) = known_to(sim, "known", 1)
    async with simulated_scorer(sim) as scorer:
        report = await scorer.ascore_claims(report_of((pair.answer, "s"), ("???", "s")))
    assert standings(report) == ["unplaced"] * 2
    assert [item.why_unplaced for item in report.claims] == ["TrustBC: refusal", "TrustBC: too_few_distractors"]


@pytest.mark.parametrize("prompt", [None, "", " "])
async def test_a_response_may_have_no_prompt(sim: Simulator, prompt: str | None) -> None:
    (pair,) = known_to(sim, "known", 1)
    async with simulated_scorer(sim) as scorer:
        report = await scorer.ascore_claims(report_of((pair.answer, "s"), prompt=prompt))
        assert standings(report) == ["supported_insisted"]
        empty = await scorer.ascore_claims(report_of(prompt=prompt))
    assert (empty.claims, empty.counts[ClaimStanding.UNPLACED]) == ((), 0)


@pytest.mark.parametrize("claims", [[], [("Rome is old.", "s")], [("Rome is old.", "i")]])
async def test_without_a_subject_there_is_nobody_to_ask(claims: list[tuple[str, str]]) -> None:
    with pytest.raises(ConfigError, match="TrustBC needs a subject model"):
        await TrustScorer(cache=False).ascore_claims(report_of(*claims))


@pytest.mark.statistical
async def test_claims_of_the_simulated_world_fare_as_the_subject_knows_them(sim: Simulator, tmp_path: Path) -> None:
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    settings: dict[str, Any] = {"run_dir": tmp_path / "run"}
    async with simulated_checker(sim) as checker, simulated_scorer(sim) as scorer:
        factuality = await checker.acheck(response.text, response.prompt)
        report = await scorer.ascore_claims(factuality, **settings)
        paid = sim.stats().model.requests
        again = await scorer.ascore_claims(factuality, **settings)
        assert sim.stats().model.requests == paid
        with pytest.raises(ConfigError, match="a different configuration"):
            await scorer.ascore_claims(report_of(("Rome is old.", "s")), **settings)
    assert timeless(again)["claims"] == timeless(report)["claims"]
    subject = sim.subject
    truth = {fact.self_contained: subject.expected_trust_bc(fact.topic, fact.self_contained) for fact in response.facts}
    compared = [
        (item.trust_bc.value, truth[item.claim.self_contained])
        for item in report.claims
        if item.trust_bc is not None and item.trust_bc.value is not None  # an invented name may have no known kind
        if truth.get(item.claim.self_contained) is not None
    ]
    assert len(compared) >= 5
    assert all(value == wanted for value, wanted in compared)
    kept = LongFormTrustReport.model_validate_json((tmp_path / "run" / "report.json").read_bytes())
    assert kept.claims == again.claims


async def test_a_long_answer_is_scored_whole_as_the_command_does(sim: Simulator, tmp_path: Path) -> None:
    shortest = min(sim.world.responses, key=lambda response: len(response.facts))
    settings = TrustSettings(
        subject_model=MODEL, judge_model=MODEL, base_url=sim.base_url, max_checks=1, max_calls=60, cache=False
    )
    scored = await ascore_long_form(
        shortest.text, shortest.prompt, settings=settings, search=("serper",), run_dir=tmp_path / "run"
    )
    assert len(scored.claims) == len(scored.factuality.claims) >= len(shortest.facts)
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"safe", "trust"}
    assert sim.stats().model.requests <= 60
    assert missing_scores(scored) >= scored.factuality.counts.unscored


def test_what_is_known_of_a_cost_leaves_the_budget_though_a_search_has_no_price() -> None:
    meter = UsageMeter()
    meter.called("assessment", CallCost(9, 9, False, 0.90), 1.0)
    meter.searched("search", 0.1, None)
    spent = meter.snapshot(1.0)
    assert spent.cost_usd is None
    left = with_remaining_limits(TrustSettings(subject_model="openai:m", budget_usd=1.0), spent)
    assert left.budget_usd == pytest.approx(0.10)


async def test_claims_are_held_against_other_answers_of_the_subject(sim: Simulator) -> None:
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    said, other = response.facts[0].self_contained, "Rome has four hundred bridges."
    claims = [(said, "s"), (other, "n"), ("It is a lovely day.", "i")]
    async with simulated_scorer(sim, samples=3, max_checks=1) as scorer:
        report = await scorer.ascore_claims(report_of(*claims, prompt=response.prompt))
        with pytest.raises(ConfigError, match="the question that the long answer responds to"):
            await scorer.ascore_claims(report_of(*claims))
    asked = [body for body in sim.bodies() if body["messages"][-1]["content"] == response.prompt]
    assert [body["temperature"] for body in asked] == [1.0] * 3  # each sample is asked for
    assert report.samples == (response.text,) * 3
    first, second, irrelevant = (one.agreement for one in report.claims)
    assert first is not None
    assert second is not None
    assert first.value is not None
    assert second.value is not None
    assert (first.n, second.n, irrelevant) == (3, 3, None)
    assert first.value > 0.5 > second.value
    page = render_long_form_html(report)
    assert agreement_basis(first) in page
