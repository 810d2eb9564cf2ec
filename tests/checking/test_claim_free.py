"""Responses that claim nothing, and checks with nothing to check against."""

from __future__ import annotations

import pytest

from factloop import FactChecker, UnscoredReason
from tests.checking.simulated import simulated_checker
from tests.simulator import Simulator

CLAIM_FREE = [
    "I don't know.",
    "",
    "  \n\t ",
    "# Heading\n\n## Another\n",
    "I'm sorry, but I can't help with that.",
    "I would love to see it.",
]


@pytest.mark.parametrize("response", CLAIM_FREE)
def test_the_offline_engine_finds_no_claims_where_there_are_none(response: str) -> None:
    report = FactChecker(cache=False, k=64).check(response)
    assert report.claims == ()
    assert report.precision is None
    assert [entry.f1 for entry in report.at_k] == [0.0]
    assert report.warnings == ()


@pytest.mark.parametrize("response", [*CLAIM_FREE[:4], None])
async def test_a_model_finds_no_claims_where_there_are_none(sim: Simulator, response: str | None) -> None:
    text = sim.world.claim_free.text if response is None else response
    async with simulated_checker(sim, k=64) as checker:
        report = await checker.acheck(text)
    assert report.claims == ()
    assert report.precision is None
    assert [entry.f1 for entry in report.at_k] == [0.0]
    assert sim.stats().search.requests == 0 or report.abstentions  # which are searched for


def test_without_a_source_the_offline_engine_finds_claims_and_judges_none() -> None:
    report = FactChecker(cache=False).check("Rome is in Italy. Oslo is in Norway.")
    assert [claim.judgement.unscored_reason for claim in report.claims] == [UnscoredReason.NO_SOURCE] * 2
    assert report.precision is None
    said = "There was nothing to check against: give documents, or name a search."
    assert said in report.warnings, "which callers of Python, HTTP and MCP read too: no flags"
