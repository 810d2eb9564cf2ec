"""Servers that are dead or die: what the events say meanwhile, and what the report holds in the end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from factloop import FactualityReport
from factloop.core.events import CheckFinished, Event, ServerWait
from factloop.core.records import UnscoredReason
from tests.checking.simulated import simulated_checker
from tests.simulator import SEARCH, Faults, Response, Simulator

PATIENCE_S = 2.0
REFUSING = {SEARCH: Faults(error_429=1.0)}
NOTHING = f"has accepted no request for {PATIENCE_S:g} s (the last answer: status 429)"


@pytest.fixture
def response(sim: Simulator) -> Response:
    sim.set(retry_after="none")
    return min(sim.world.responses, key=lambda response: len(response.facts))


def failures(report: FactualityReport) -> set[tuple[UnscoredReason | None, str]]:
    """Failures of the claims that needed a search, or the model."""
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


async def test_a_model_that_refuses_everything_leaves_every_sentence_unscored(
    sim: Simulator, response: Response
) -> None:
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
