"""Checks of every search tool."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from factloop.core.errors import ToolError
from factloop.tools.search.adapter import as_search_tool
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.brave import BraveSearch
from factloop.tools.search.build import built_in_searches
from factloop.tools.search.documents import DocumentSearch
from factloop.tools.search.exa import ExaSearch
from factloop.tools.search.searxng import SearxngSearch
from factloop.tools.search.serper import SerperSearch
from factloop.tools.search.tavily import TavilySearch
from factloop.tools.search.wikipedia import WikipediaSearch
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply
from tests.tools.search.test_adapter import Shelf
from tests.tools.search.test_wikipedia import page

SECRET = "t0p-s3cret"
TEXTS = [f"Ada fact number {number}." for number in range(5)]


@dataclass
class Subject:
    """A tool that knows five passages about Ada, with ways to make it find nothing or fail."""

    search: SearchTool
    find_nothing: Callable[[], None]
    fail: Callable[[], None] | None


def serper(server: FakeServer, _: Path) -> Subject:
    organic = [{"title": "Ada", "link": f"https://e.example/{n}", "snippet": text} for n, text in enumerate(TEXTS)]
    server.will_answer({"organic": organic})
    search = SerperSearch.model_validate({"api_key": SECRET, "base_url": server.url})
    return Subject(search, lambda: server.will_answer({"organic": []}), lambda: server.will(Reply(status=500)))


def searxng(server: FakeServer, _: Path) -> Subject:
    results = [{"title": "Ada", "url": f"https://e.example/{n}", "content": text} for n, text in enumerate(TEXTS)]
    server.will_answer({"results": results})
    search = SearxngSearch(base_url=server.url.replace("//", f"//me:{SECRET}@"))
    return Subject(search, lambda: server.will_answer({"results": []}), lambda: server.will(Reply(status=500)))


def tavily(server: FakeServer, _: Path) -> Subject:
    results = [{"title": "Ada", "url": f"https://e.example/{n}", "content": text} for n, text in enumerate(TEXTS)]
    server.will_answer({"query": "ada", "results": results, "response_time": 0.1})
    search = TavilySearch.model_validate({"api_key": SECRET, "base_url": server.url})
    return Subject(search, lambda: server.will_answer({"results": []}), lambda: server.will(Reply(status=500)))


def exa(server: FakeServer, _: Path) -> Subject:
    def answer(texts: list[str]) -> dict[str, object]:
        pages = [
            {"id": str(n), "url": f"https://e.example/{n}", "title": "Ada", "highlights": [text], "text": "It begins."}
            for n, text in enumerate(texts)
        ]
        return {"requestId": "r", "results": pages}

    server.will_answer(answer(TEXTS))
    search = ExaSearch.model_validate({"api_key": SECRET, "base_url": server.url})
    return Subject(search, lambda: server.will_answer(answer([])), lambda: server.will(Reply(status=500)))


def brave(server: FakeServer, _: Path) -> Subject:
    pages = [{"title": "Ada", "url": f"https://e.example/{n}", "description": text} for n, text in enumerate(TEXTS)]
    server.will_answer({"type": "search", "query": {"original": "ada"}, "web": {"results": pages}})
    search = BraveSearch.model_validate({"api_key": SECRET, "base_url": server.url})
    nothing = {"type": "search", "query": {"original": "zzzz"}}
    return Subject(search, lambda: server.will_answer(nothing), lambda: server.will(Reply(status=500)))


def wikipedia(server: FakeServer, _: Path) -> Subject:
    server.will_answer({"query": {"pages": [page(n, f"Ada {n}", n, text) for n, text in enumerate(TEXTS)]}})
    search = WikipediaSearch(base_url=server.url.replace("//", f"//me:{SECRET}@"))
    return Subject(search, lambda: server.will_answer({"batchcomplete": True}), lambda: server.will(Reply(status=500)))


def documents(_: FakeServer, folder: Path) -> Subject:
    for number, text in enumerate(TEXTS):
        (folder / f"{number}.txt").write_text(text)
    return Subject(DocumentSearch([folder], cache_dir=folder / ".cache"), lambda: None, None)


def retriever(_: FakeServer, __: Path) -> Subject:
    shelf = Shelf(documents=[Document(text) for text in TEXTS])

    def fail() -> None:
        shelf.documents = None  # type: ignore[assignment]  # a retriever that breaks its promise

    return Subject(as_search_tool(shelf), lambda: shelf.documents.clear(), fail)


def langchain_tool(_: FakeServer, __: Path) -> Subject:
    state = {"documents": [Document(text) for text in TEXTS], "broken": False}

    @tool(response_format="content_and_artifact")
    def lookup(query: str) -> tuple[str, object]:
        """Look a query up."""
        if state["broken"]:
            raise OSError(query)
        return "found", state["documents"]

    return Subject(as_search_tool(lookup), lambda: state.update(documents=[]), lambda: state.update(broken=True))


SUBJECTS = [serper, searxng, tavily, exa, brave, wikipedia, documents, retriever, langchain_tool]
"""What builds each, called as its provider."""


def test_every_provider_of_ours_is_held_to_this() -> None:
    assert {*built_in_searches()} <= {build.__name__ for build in SUBJECTS}


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest, server: FakeServer, tmp_path: Path) -> Subject:
    build: Callable[[FakeServer, Path], Subject] = request.param
    return build(server, tmp_path)


def test_nothing_asked_for_asks_nothing(subject: Subject, server: FakeServer) -> None:
    assert subject.search.search("", 3) == subject.search.search(" \n", 3) == subject.search.search("ada", 0) == []
    assert server.received == []


async def test_async_gives_the_same(subject: Subject) -> None:
    assert await subject.search.asearch("ada fact", 3) == subject.search.search("ada fact", 3)


def test_empty_result(subject: Subject) -> None:
    subject.find_nothing()
    assert subject.search.search("zzzz", 3) == []
    message = subject.search.invoke({"name": "x", "args": {"query": "zzzz"}, "id": "1", "type": "tool_call"})
    assert (message.content, message.artifact) == ("Nothing was found.", [])


async def test_as_a_langchain_tool(subject: Subject) -> None:
    call = {"name": subject.search.name, "args": {"query": "ada fact"}, "id": "1", "type": "tool_call"}
    for message in (subject.search.invoke(call), await subject.search.ainvoke(call)):
        assert isinstance(message, ToolMessage)
        assert len(message.artifact) == 3
        assert all(isinstance(hit, SearchHit) for hit in message.artifact)
        assert [f"[{rank}]" in str(message.content) for rank in (1, 2, 3, 4)] == [True, True, True, False]
    assert list(subject.search.args) == ["query"]
    assert len(subject.search.description) > 10


async def test_failure_is_a_tool_error(subject: Subject) -> None:
    if subject.fail is None:
        pytest.skip("a local index has no server that could fail")
    subject.fail()
    with pytest.raises(ToolError) as caught:
        subject.search.search("ada", 3)
    assert caught.value.tool == subject.search.name
    with pytest.raises(ToolError):
        await subject.search.asearch("ada", 3)


def test_identity_is_stable_and_holds_no_secret(subject: Subject) -> None:
    identity = subject.search.identity
    subject.search.search("ada fact", 3)
    assert subject.search.identity == identity != ""
    assert SECRET not in identity


async def test_searches_leave_the_event_loop_free(subject: Subject, server: FakeServer) -> None:
    """Each waits in a thread; a server answers none before it has two. Few passages are found sooner than that."""
    two = threading.Barrier(2)

    def respond(_: ReceivedRequest) -> Reply | None:
        two.wait()
        return None

    server.respond = respond
    found = await asyncio.gather(*(subject.search.asearch("ada fact", 3) for _ in range(20)))
    assert all(len(hits) == 3 for hits in found)
    is_small = isinstance(subject.search, DocumentSearch)
    assert is_small or any(thread.name.startswith((subject.search.name, "asyncio")) for thread in threading.enumerate())
