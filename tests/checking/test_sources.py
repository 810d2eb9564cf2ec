"""Models, searches and documents of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from factloop import FactChecker, Verdict
from factloop.core.errors import ConfigError
from factloop.tools.search.base import SearchHit, SearchTool
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
