"""Errors that contradicted claims share, in every plan: claims that fail for one cause count as one error."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document

from factloop import FactualityReport, Verdict
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments
from tests.checking.simulated import PLANS, simulated_checker
from tests.simulator import Simulator


async def check(sim: Simulator, plan: str) -> FactualityReport:
    response = sim.world.one_response(43)
    documents = [Document(one.text, metadata={"title": one.title, "source": one.url}) for one in response.passages]
    settings: dict[str, Any] = {"plan": plan, "search": ()}
    async with simulated_checker(sim, **settings) as checker:
        return await checker.acheck(response.text, response.prompt, sources=Sources((GivenDocuments(documents),)))


@pytest.mark.parametrize("plan", [*PLANS, "grounded"])
async def test_every_contradicted_claim_says_which_of_its_words_are_wrong(sim: Simulator, plan: str) -> None:
    claims = (await check(sim, plan)).claims
    contradicted = [claim for claim in claims if claim.judgement.contradicted and claim.duplicate_of is None]
    assert len(contradicted) > 3
    assert all(claim.judgement.wrong and claim.judgement.wrong in claim.self_contained for claim in contradicted)
    assert not any(claim.judgement.wrong for claim in claims if claim.judgement.verdict is Verdict.SUPPORTED)
