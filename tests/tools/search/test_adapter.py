from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import Field

from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.core.records import SourceDocument
from factloop.tools.search.adapter import LangChainToolSearch, RetrieverSearch, as_search_tool
from factloop.tools.search.base import SearchHit

DOCUMENTS = [
    Document("Ada was born in 1815.", metadata={"source": "ada.md", "title": "Ada", "date": 1815}),
    Document("  "),
    Document("No metadata."),
    Document("Has an id.", id="d4", metadata={"url": None}),
]
HITS = [
    SearchHit(
        source="ada.md",
        title="Ada",
        passage="Ada was born in 1815.",
        published="1815",
        document=SourceDocument(metadata={"source": "ada.md", "title": "Ada", "date": 1815}),
    ),
    SearchHit(source="retriever#3", passage="No metadata."),
    SearchHit(source="d4", passage="Has an id.", document=SourceDocument(id="d4", metadata={"url": None})),
]


class Shelf(BaseRetriever):
    """Synchronous only."""

    documents: list[Document] = DOCUMENTS
    threads: list[str] = Field(default_factory=list)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002 -- named by the base class
        self.threads.append(threading.current_thread().name)
        if query == "raise":
            raise ZeroDivisionError("secret of the shelf")
        if query == "slow":
            raise ToolTimeout(tool="shelf", timeout_s=1)
        return self.documents


class AsyncShelf(Shelf):
    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 -- as above
    ) -> list[Document]:
        if query == "raise":
            raise ZeroDivisionError
        if query == "hang":
            await asyncio.sleep(60)
        return self.documents[:1]


async def test_async_paths() -> None:
    shelf = Shelf()
    assert await RetrieverSearch(shelf).asearch("ada", 3) == HITS
    assert shelf.threads[0].startswith("retriever"), "a thread of its own, not the event loop's"
    assert await RetrieverSearch(AsyncShelf()).asearch("ada", 3) == HITS[:1]


async def test_a_vector_store_finds_as_many_as_are_asked_for_unless_told_how_many() -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_texts([f"About {number}." for number in range(9)])
    for given, n_found in ((store, 6), (store.as_retriever(), 6), (store.as_retriever(search_kwargs={"k": 2}), 2)):
        search = as_search_tool(given)
        assert (len(search.search("ada", 6)), len(await search.asearch("ada", 6))) == (n_found, n_found)


@pytest.mark.parametrize("shelf", [Shelf(), AsyncShelf()])
async def test_retriever_errors_are_translated(shelf: Shelf) -> None:
    search = as_search_tool(shelf)
    with pytest.raises(ToolError, match="ZeroDivisionError") as caught:
        search.search("raise", 3)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(ToolError, match="ZeroDivisionError"):
        await search.asearch("raise", 3)
    with pytest.raises(ToolTimeout):
        search.search("slow", 3)


@tool
def encyclopaedia(topic: str) -> str:
    """Look a topic up."""
    return f"About {topic}." if topic != "nothing" else " "


@tool(response_format="content_and_artifact")
def archive(query: str, depth: int = 1) -> tuple[str, list[Document]]:
    """Look a query up."""
    return f"two things about {query}", DOCUMENTS[: 4 * depth]


@tool
def adder(first: int, second: int) -> int:
    """Add."""
    return first + second


@tool
def clock() -> str:
    """Tell the time."""
    return "now"


async def test_text_answer_is_one_hit() -> None:
    search = as_search_tool(encyclopaedia)
    assert (search.name, search.description) == ("encyclopaedia", "Look a topic up.")
    hit = SearchHit(source="encyclopaedia", passage="About Ada.")
    assert search.search("Ada", 3) == [hit]
    assert await search.asearch("Ada", 3) == [hit]
    assert search.search("nothing", 3) == []


def test_handled_tool_errors_are_no_evidence() -> None:
    def fail(query: str) -> str:
        from langchain_core.tools import ToolException

        raise ToolException(query)

    handled: BaseTool = StructuredTool.from_function(fail, name="f", description="d", handle_tool_error="sorry")
    with pytest.raises(ToolError, match="reported an error"):
        as_search_tool(handled).search("ada", 3)


@pytest.mark.parametrize("thing", [adder, clock, "serper", None, 3])
def test_other_things_are_refused(thing: Any) -> None:
    with pytest.raises(ConfigError):
        as_search_tool(thing)


def test_a_search_tool_stays_itself() -> None:
    search = RetrieverSearch(Shelf())
    assert as_search_tool(search) is search
    assert isinstance(as_search_tool(archive), LangChainToolSearch)


SECRET = "a-secret-of-this-store"


def test_what_a_tool_raises_is_shown_alike_with_its_traceback_for_those_who_debug(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORE_TOKEN", SECRET)

    @tool
    def look_up(query: str) -> str:
        """Looks something up."""
        try:
            raise ConnectionError("no answer of https://store.example/q?sig=zzz999")
        except ConnectionError as error:
            raise RuntimeError(f"nothing about {query} with {SECRET}") from error

    with (
        caplog.at_level(logging.DEBUG, "factloop"),
        pytest.raises(ToolError, match=r"look_up: the tool failed .*nothing about Ada"),
    ):
        as_search_tool(look_up).search("Ada", 3)
    short, long = [record for record in caplog.records if record.name.endswith("adapter")]
    assert (short.levelno, long.levelno) == (logging.WARNING, logging.DEBUG)
    assert "ConnectionError: no answer of https://store.example/q?[secret]\n" in long.getMessage()
    assert long.getMessage().endswith("RuntimeError: nothing about Ada with [secret]")
    assert not any(secret in caplog.text for secret in (SECRET, "q?sig=zzz999"))


def test_a_long_title_is_cut_because_it_stands_before_each_piece_of_a_passage() -> None:
    assert len(SearchHit(source="a", title="x" * 5_000, passage="p").title) == 1_000
