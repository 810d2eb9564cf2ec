from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from factloop.core.errors import ToolError
from factloop.tools.search.adapter import as_search_tool
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.build import built_in_searches, search_builder
from factloop.tools.search.documents.search import DocumentSearch
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply
from tests.tools.search.test_adapter import Shelf
from tests.tools.search.test_providers import page

SECRET = "t0p-s3cret"
TEXTS = [f"Ada fact number {number}." for number in range(5)]


@dataclass
class Subject:
    """A tool that knows five passages about Ada and can be made to find nothing, return pages without text, or fail."""

    search: SearchTool
    find_nothing: Callable[[], object] = lambda: None
    fail: Callable[[], object] | None = None
    find_no_text: Callable[[], object] | None = None


def pages(texts: Sequence[str], url: str, text: str) -> list[dict[str, Any]]:
    return [{"title": "Ada", url: f"https://e.example/{n}", text: said} for n, said in enumerate(texts)]


def exa(texts: Sequence[str]) -> dict[str, Any]:
    found = pages(texts, "url", "id")
    return {"results": [one | {"highlights": [text]} for one, text in zip(found, texts, strict=True)]}


def brave(texts: Sequence[str]) -> dict[str, Any]:
    web = {"web": {"results": pages(texts, "url", "description")}} if texts else {}
    return {"type": "search", "query": {"original": "ada"}, **web}


def wikipedia(texts: Sequence[str]) -> dict[str, Any]:
    found = [page(n, f"Ada {n}", n, text) for n, text in enumerate(texts)]
    return {"query": {"pages": found}} if found else {"batchcomplete": True}


PROVIDERS: dict[str, tuple[str, str, Callable[[Sequence[str]], dict[str, Any]]]] = {
    "serper": ("SERPER_API_KEY", "FACTLOOP_SERPER_URL", lambda texts: {"organic": pages(texts, "link", "snippet")}),
    "tavily": ("TAVILY_API_KEY", "FACTLOOP_TAVILY_URL", lambda texts: {"results": pages(texts, "url", "content")}),
    "exa": ("EXA_API_KEY", "FACTLOOP_EXA_URL", exa),
    "brave": ("BRAVE_SEARCH_API_KEY", "FACTLOOP_BRAVE_URL", brave),
    "searxng": ("", "FACTLOOP_SEARXNG_URL", lambda texts: {"results": pages(texts, "url", "content")}),
    "wikipedia": ("", "", wikipedia),
}
"""The variables of the key and of the address, and the answer with these texts."""


def hosted(name: str, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Subject:
    key, url, answer = PROVIDERS[name]
    address = server.url.replace("//", f"//me:{SECRET}@") if not key else server.url
    for variable, value in ((key, SECRET), (url, address)):
        if variable:
            monkeypatch.setenv(variable, value)
    options = {"url": address} if name == "wikipedia" else {}
    server.will_answer(answer(TEXTS))
    return Subject(
        search_builder(name)(timeout_s=5.0, replayed=False, **options),
        lambda: server.will_answer(answer([])),
        lambda: server.will(Reply(status=500)),
        (lambda: server.will_answer(answer([" "]))) if name != "wikipedia" else None,
    )


def documents(folder: Path) -> Subject:
    for number, text in enumerate(TEXTS):
        (folder / f"{number}.txt").write_text(text)
    return Subject(DocumentSearch([folder], cache_dir=folder / ".cache"))


def retriever(_: Path) -> Subject:
    shelf = Shelf(documents=[Document(text) for text in TEXTS])

    def fail() -> None:
        shelf.documents = None  # type: ignore[assignment]  # a retriever that breaks its promise

    return Subject(as_search_tool(shelf), lambda: shelf.documents.clear(), fail)


def langchain_tool(_: Path) -> Subject:
    state = {"documents": [Document(text) for text in TEXTS], "broken": False}

    @tool(response_format="content_and_artifact")
    def lookup(query: str) -> tuple[str, object]:
        """Look a query up."""
        if state["broken"]:
            raise OSError(query)
        return "found", state["documents"]

    return Subject(as_search_tool(lookup), lambda: state.update(documents=[]), lambda: state.update(broken=True))


OTHERS = {build.__name__: build for build in (documents, retriever, langchain_tool)}


def test_every_provider_of_ours_is_held_to_this() -> None:
    assert {*built_in_searches()} == {*PROVIDERS}


@pytest.fixture(params=[*PROVIDERS, *OTHERS])
def subject(
    request: pytest.FixtureRequest, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Subject:
    name = request.param
    return hosted(name, server, monkeypatch) if name in PROVIDERS else OTHERS[name](tmp_path)


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
    for _ in range(2):
        with pytest.raises(ToolError) as caught:
            subject.search.search("ada", 3)
        assert caught.value.tool == subject.search.name
        with pytest.raises(ToolError):
            await subject.search.asearch("ada", 3)


async def test_pages_without_any_text_are_not_nothing_found(subject: Subject) -> None:
    if subject.find_no_text is None:
        pytest.skip("where there is a page there is a text")
    subject.find_no_text()
    with pytest.raises(ToolError, match=f"{subject.search.name}: .* none of them contains text") as caught:
        subject.search.search("ada", 3)
    assert not caught.value.retryable, "another try would cost another query"


def test_identity_is_stable_and_holds_no_secret(subject: Subject) -> None:
    identity = subject.search.identity
    subject.search.search("ada fact", 3)
    assert subject.search.identity == identity != ""
    assert SECRET not in identity


async def test_searches_leave_the_event_loop_free(subject: Subject, server: FakeServer) -> None:
    """Each waits in a thread, and the server answers none until it has two."""
    two = threading.Barrier(2)

    def respond(_: ReceivedRequest) -> Reply | None:
        two.wait()
        return None

    server.respond = respond
    found = await asyncio.gather(*(subject.search.asearch("ada fact", 3) for _ in range(20)))
    assert all(len(hits) == 3 for hits in found)
    is_small = isinstance(subject.search, DocumentSearch)
    assert is_small or any(thread.name.startswith((subject.search.name, "asyncio")) for thread in threading.enumerate())


async def test_they_are_recorded_under_the_same_name_wherever_they_are(subject: Subject) -> None:
    """Replays need no key or address, and models see the same description."""
    name = subject.search.name
    if name in PROVIDERS:
        replayed = search_builder(name)(timeout_s=5.0, replayed=True)
        assert name == "wikipedia" or replayed.recorded_as == subject.search.recorded_as
        assert replayed.description == subject.search.description
    else:
        assert (subject.search.recorded_as is None) == isinstance(subject.search, DocumentSearch)
