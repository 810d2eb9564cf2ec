"""Models, searches and documents of the user's own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.config import get_stream_writer
from pydantic import SecretStr

from factloop import FactChecker, Verdict
from factloop.core.errors import ConfigError
from factloop.setup.sources import Sources
from factloop.tools.search.base import SearchHit, SearchTool
from tests.checking.simulated import simulated_checker
from tests.simulator import Simulator
from tests.simulator.scoring import score

TEXT = "Ada Lovelace was born in London. Ada Lovelace was taught in Paris."
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


class Changing(OneDocument):
    """A collection whose text changes unseen."""

    text: str

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002 - it knows one thing
        return [Document(self.text)]


async def test_what_a_collection_said_is_forgotten_with_the_check() -> None:
    source, verdicts = Changing(text="No such name is known."), []
    async with FactChecker(search=source, cache=False) as checker:
        for text in (source.text, PASSAGE):
            source.text = text
            report = await checker.acheck("Ada Lovelace was born in London.")
            verdicts.append(report.claims[0].judgement.verdict)
    assert verdicts == [Verdict.NOT_SUPPORTED, Verdict.SUPPORTED]


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


class Talking(OneHit):
    """Writes to LangGraph's stream, as tools of a user's own may."""

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        for said in ("hello", {"progress": 1}):
            get_stream_writer()(said)
        return self.search(query, limit)


async def test_what_a_search_of_ones_own_tells_langgraph_is_no_event_of_ours() -> None:
    async with FactChecker(search=Talking(), cache=False) as checker:
        events = [event async for event in checker.astream("Ada Lovelace was born in London.")]
    assert "claim_judged" in {event.type for event in events}


async def test_others_go_on_while_documents_are_read(tmp_path: Path) -> None:
    (tmp_path / "ada.txt").write_text(PASSAGE, encoding="utf-8")
    opened = asyncio.Event()
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while not opened.is_set():
            turns += 1
            await asyncio.sleep(0)

    async with FactChecker(docs=tmp_path, cache_dir=tmp_path / "cache") as checker:
        turning = asyncio.create_task(turn())
        await checker.afingerprint()
        opened.set()
        await turning
    assert turns > 1


async def test_documents(tmp_path: Path) -> None:
    (tmp_path / "ada.txt").write_text(PASSAGE, encoding="utf-8")
    async with FactChecker(docs=tmp_path, cache_dir=tmp_path / "cache") as checker:
        report = await checker.acheck(TEXT)
    assert report.claims[0].judgement.verdict is Verdict.SUPPORTED
    assert report.claims[0].evidence[0].source.endswith("ada.txt")


async def test_several_retrievers_are_told_apart_by_number() -> None:
    sources: list[Any] = [OneDocument(), OneHit(name="retriever_2"), OneDocument(), look_up, OneDocument()]
    async with FactChecker(search=sources, cache=False, plan="paper") as checker:
        names = [tool.name for tool in checker.tools]
        report = await checker.acheck(TEXT)
    assert names == ["retriever", "retriever_2", "retriever_3", "look_up", "retriever_4"]
    assert len(report.fingerprint.search_tools) == 5
    assert report.claims[0].judgement.verdict is Verdict.SUPPORTED


def test_a_tool_named_as_one_of_the_settings_is_refused(sim: Simulator) -> None:  # noqa: ARG001 - serper wants a key
    checker = FactChecker(search=[OneHit(name="serper"), "serper"], cache=False)
    with pytest.raises(ConfigError, match="two search tools have one name: serper, serper"):
        checker.check(TEXT)


@pytest.mark.parametrize("wrong", [3, object()])
def test_what_is_no_search_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="is not a search"):
        FactChecker(search=[wrong])


async def test_half_a_character_in_what_a_search_brings_spoils_nothing() -> None:
    class Broken(OneHit):
        def search(self, query: str, limit: int) -> list[SearchHit]:  # noqa: ARG002 - it knows one thing
            return [SearchHit(source="own", passage=f"{PASSAGE} \ud83d")]

    async with FactChecker(search=Broken(), cache=False) as checker:
        report = await checker.acheck(TEXT)
    assert report.claims[0].judgement.verdict is Verdict.SUPPORTED
    assert report.model_dump_json().encode()


async def test_the_base_url_of_the_environment_is_part_of_the_fingerprint(
    sim: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", sim.base_url)
    async with FactChecker("openai:sim", search="serper", cache=False) as checker:
        report = await checker.acheck("")
    assert report.fingerprint.base_url == sim.base_url
