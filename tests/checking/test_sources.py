"""Models, searches and documents of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from factloop import FactChecker, Verdict
from factloop.core.errors import ConfigError
from factloop.setup.sources import Sources
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.given import GivenDocuments
from tests.checking.simulated import simulated_checker
from tests.simulator import Simulator
from tests.simulator.scoring import score

TEXT = "Ada Lovelace was born in London. Ada Lovelace was born on 12 December 1815."
PASSAGE = "Ada Lovelace was born in London on 10 December 1815."


class OneDocument(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002 - the base class has them
        return [Document(PASSAGE, metadata={"source": "https://example.org/ada", "title": "Ada"})]


class OneHit(SearchTool):
    name: str = "own"
    description: str = "Knows one thing."

    @property
    def identity(self) -> str:
        return "own"

    def search(self, query: str, limit: int) -> list[SearchHit]:  # noqa: ARG002 - it knows one thing
        return [SearchHit(source="own", passage=PASSAGE)]


@tool
def look_up(query: str) -> str:  # noqa: ARG001 - a tool takes its query
    """Looks something up."""
    return PASSAGE


async def test_a_chat_model_of_ones_own(sim: Simulator) -> None:
    response = sim.world.responses[1]
    model = ChatOpenAI(
        model="sim", base_url=sim.base_url, api_key=SecretStr("own-secret"), temperature=0, max_retries=0
    )
    async with FactChecker(model, search="serper", cache=False) as checker:
        report = await checker.acheck(response.text, response.prompt)
    assert score(report.claims, response.facts).n_equal == len(response.facts)
    assert report.fingerprint.model == "sim"
    assert report.fingerprint.engine == "model"
    assert "own-secret" not in report.model_dump_json()


@pytest.mark.parametrize("source", [OneDocument(), OneHit(), look_up], ids=["retriever", "own tool", "langchain tool"])
async def test_a_source_of_ones_own(source: Any) -> None:
    async with FactChecker(search=source, cache=False) as checker:
        report = await checker.acheck(TEXT, "Who was Ada Lovelace?")
    first, second = report.claims
    assert first.judgement.verdict is Verdict.SUPPORTED
    assert second.judgement.verdict is Verdict.NOT_SUPPORTED
    assert first.evidence[0].passage == PASSAGE


async def test_sources_of_a_check_are_all_that_it_needs_to_reach(
    sim: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checker's own search is down, and this check has no use for it."""
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", "any")
    monkeypatch.setenv("FACTLOOP_BRAVE_URL", "http://127.0.0.1:9")
    response = sim.world.responses[0]
    async with simulated_checker(sim, search="brave", patience_s=1.0) as checker:
        report = await checker.acheck(response.sentences[0], response.prompt, sources=Sources((OneHit(),)))
    assert report.claims
    assert {claim.judgement.unscored_reason for claim in report.claims} == {None}


ADA = "Ada Lovelace was born in London."
KNOWS = GivenDocuments([Document("Ada Lovelace was born in London in 1815.")])
KNOWS_NOT = GivenDocuments([Document("Rome is the capital of Italy.")])


def test_a_run_directory_belongs_to_what_was_given(tmp_path: Path) -> None:
    checker = FactChecker(cache=False)
    first = checker.check(ADA, sources=Sources((KNOWS,)), run_dir=tmp_path)
    again = checker.check(ADA, sources=Sources((KNOWS,)), run_dir=tmp_path)
    assert first.claims == again.claims
    assert first.counts.supported == 1
    with pytest.raises(ConfigError):
        checker.check(ADA, sources=Sources((KNOWS_NOT,)), run_dir=tmp_path)


BAKERY = ["The Bramley bakery opened in 1921 in Leeds.", "The bakery employs 42 people.", "The bakery has three ovens."]


@pytest.mark.parametrize(
    ("documents", "n_supported"),
    [
        (BAKERY, 3),
        ([" ".join(BAKERY)], 3),
        ([BAKERY[0], "The bakery employs 50 people.", BAKERY[2]], 2),
        ([BAKERY[0], BAKERY[1], "The mill has three ovens. The bakery is small."], 2),
        ([BAKERY[0], "The bakery never employed 42 people.", "The bakery has no ovens."], 1),
    ],
)
@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_a_named_thing_is_found_by_its_noun_where_documents_are_short(
    documents: list[str], n_supported: int, plan: Literal["fused", "paper"]
) -> None:
    answer = "The Bramley bakery opened in 1921. It employs 42 people. It has three ovens."
    given = GivenDocuments([Document(text) for text in documents])
    async with FactChecker(plan=plan, cache=False) as checker:
        report = await checker.acheck(answer, sources=Sources((given,)))
    assert [claim.self_contained.split()[1] for claim in report.claims] == ["Bramley"] * 3
    assert report.counts.supported == n_supported
    supported = [claim for claim in report.claims if claim.judgement.verdict is Verdict.SUPPORTED]
    assert all(claim.judgement.quote in " ".join(documents) for claim in supported)
