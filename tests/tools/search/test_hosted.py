"""Tavily, Exa and Brave over loopback HTTP: what they are asked, what they cite, and that no failure finds nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from factloop import FactChecker
from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.tools.calls.json_client import MAX_BODY_BYTES
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.brave import BraveSearch
from factloop.tools.search.exa import LONGEST_TEXT, ExaSearch
from factloop.tools.search.registry import search_builder
from factloop.tools.search.tavily import TavilySearch
from tests.tools.fake_server import FakeServer, Reply, serving

KEY = "t0p-s3cret"
KINDS = {
    "tavily": (TavilySearch, "TAVILY_API_KEY", "FACTLOOP_TAVILY_URL"),
    "exa": (ExaSearch, "EXA_API_KEY", "FACTLOOP_EXA_URL"),
    "brave": (BraveSearch, "BRAVE_SEARCH_API_KEY", "FACTLOOP_BRAVE_URL"),
}
Build = Callable[[], SearchTool]


@pytest.fixture(params=KINDS)
def name(request: pytest.FixtureRequest, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """A search whose key and address come from the environment."""
    name = str(request.param)
    _, key, url = KINDS[name]
    monkeypatch.setenv(key, KEY)
    monkeypatch.setenv(url, server.url)
    return name


@pytest.fixture
def search(name: str) -> SearchTool:
    return search_builder(name)(timeout_s=5.0, replayed=False)


def of(name: str, server: FakeServer) -> SearchTool:
    return KINDS[name][0].model_validate({"api_key": KEY, "base_url": server.url})


def test_tavily(server: FakeServer) -> None:
    server.will_answer(
        {
            "query": "ada",
            "results": [
                {"url": "https://a.example", "title": "Ada", "content": "Born in 1815.", "score": 0.9},
                {"url": "https://b.example", "title": None, "content": "News.", "published_date": "Mon, 2 Mar 2026"},
                {"url": "https://c.example", "title": "Empty", "content": ""},
            ],
        }
    )
    assert of("tavily", server).search("ada", 3) == [
        SearchHit(source="https://a.example", title="Ada", passage="Born in 1815."),
        SearchHit(source="https://b.example", passage="News.", published="Mon, 2 Mar 2026"),
    ]
    (asked,) = server.received
    assert (asked.path, asked.headers["Authorization"]) == ("/search", f"Bearer {KEY}")
    assert asked.payload == {"query": "ada", "max_results": 3, "search_depth": "basic"}


def test_exa(server: FakeServer) -> None:
    pages = [
        {"id": "1", "url": "https://a.example", "title": "Ada", "publishedDate": "2024-05-06", "text": "It begins.",
         "highlights": ["Born in 1815.", "She wrote notes."]},
        {"id": "2", "url": "https://b.example", "title": None, "text": "Without highlights.", "highlights": []},
        {"id": "3", "url": "https://c.example", "title": "Empty"},
    ]  # fmt: skip
    server.will_answer({"requestId": "r", "results": pages, "costDollars": {"total": 0.008}})
    assert of("exa", server).search("ada", 3) == [
        SearchHit(
            source="https://a.example", title="Ada", passage="Born in 1815. … She wrote notes.", published="2024-05-06"
        ),
        SearchHit(source="https://b.example", passage="Without highlights."),
    ]
    (asked,) = server.received
    assert (asked.path, asked.headers["x-api-key"]) == ("/search", KEY)
    assert (asked.payload["query"], asked.payload["numResults"]) == ("ada", 3)
    assert asked.payload["contents"] == {"highlights": True, "text": {"maxCharacters": LONGEST_TEXT}}


def test_brave(server: FakeServer) -> None:
    pages = [
        {"url": "https://a.example", "title": "<strong>Ada</strong> &amp; Babbage", "page_age": "2024-05-06T00:00:00",
         "description": "<strong>Ada</strong> was born in 1815.", "extra_snippets": ["She wrote &lt;notes&gt;."]},
        {"url": "https://b.example", "title": "Empty"},
    ]  # fmt: skip
    server.will_answer({"type": "search", "query": {"original": "ada"}, "web": {"results": pages}})
    assert of("brave", server).search("ada", 3) == [
        SearchHit(
            source="https://a.example",
            title="Ada & Babbage",
            passage="Ada was born in 1815. She wrote <notes>.",
            published="2024-05-06T00:00:00",
        )
    ]
    (asked,) = server.received
    assert (asked.path, asked.headers["X-Subscription-Token"]) == ("/res/v1/web/search", KEY)
    assert asked.params == {"q": "ada", "count": "3", "extra_snippets": "true"}


def test_brave_takes_no_longer_query(server: FakeServer) -> None:
    server.will_answer({"query": {}})
    assert of("brave", server).search("word " * 200, 3) == []
    assert len(server.received[0].params["q"].split()) == 50


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (401, False), (403, False), (429, True), (500, True), (503, True)]
)
async def test_a_refusal_keeps_its_status(search: SearchTool, server: FakeServer, status: int, retryable: bool) -> None:
    body = {"detail": {"error": "no"}, "error": "no", "code": 200}
    server.will(Reply(status=status, body=json.dumps(body).encode()))
    for ask in (lambda: search.search("ada", 3), None):
        with pytest.raises(ToolError) as caught:
            _ = ask() if ask is not None else await search.asearch("ada", 3)
        assert (caught.value.status, caught.value.retryable) == (status, retryable)
        assert KEY not in str(caught.value)
        assert ("was refused" in str(caught.value)) is (status in (401, 403))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=502, body=b"<html>Bad gateway</html>", headers=(("Content-Type", "text/html"),)),
        Reply(body=b"<html>Welcome</html>", headers=(("Content-Type", "text/html"),)),
        Reply(body=b"{}"),
        Reply(body=b'{"results": "none", "query": 7}'),
        Reply(body=b'{"results": [{"title": "no address"}], "query": {}, "web": {"results": [{"title": "x"}]}}'),
        Reply(body=b"[]"),
        Reply(body=b""),
    ],
    ids=lambda reply: f"{reply.status} {reply.body[:24]!r}",
)
async def test_what_is_no_answer_is_never_nothing_found(search: SearchTool, server: FakeServer, reply: Reply) -> None:
    server.will(reply)
    with pytest.raises(ToolError):
        search.search("ada", 3)
    with pytest.raises(ToolError):
        await search.asearch("ada", 3)


PAGES_WITHOUT_TEXT = {
    "tavily": {"results": [{"url": "https://a.example", "title": "Ada", "content": " "}]},
    "exa": {
        "results": [{"url": "https://a.example", "title": "Ada", "highlights": []}],
        "statuses": [{"id": "https://a.example", "status": "error", "error": {"tag": "CRAWL_TIMEOUT"}}],
    },
    "brave": {"query": {}, "web": {"results": [{"url": "https://a.example", "title": "Ada", "description": ""}]}},
}


async def test_pages_without_any_text_are_not_nothing_found(
    name: str,
    search: SearchTool,
    server: FakeServer,
    brisk: None,  # noqa: ARG001
) -> None:
    server.will_answer(PAGES_WITHOUT_TEXT[name])
    with pytest.raises(ToolError, match=f"{name}: found pages, and no text of any") as caught:
        search.search("ada", 3)
    assert not caught.value.retryable, "another try would cost another query"
    with pytest.raises(ToolError, match=f"{name}: found pages, and no text of any"):
        await search.asearch("ada", 3)
    async with FactChecker(search=name, cache=False, patience_s=1.0) as checker:
        report = await checker.acheck("Ada Lovelace was born in London.")
    assert [claim.judgement.unscored_reason for claim in report.claims] == ["tool_failure"]


async def test_a_dead_server_may_come_back(name: str) -> None:
    search = KINDS[name][0].model_validate({"api_key": KEY, "base_url": "http://127.0.0.1:9"})
    for ask in (lambda: search.search("ada", 3), None):
        with pytest.raises(ToolError) as caught:
            _ = ask() if ask is not None else await search.asearch("ada", 3)
        assert (caught.value.status, caught.value.retryable) == (None, True)
        assert "127.0.0.1" in str(caught.value)
    with pytest.raises(ToolError):
        await search.areach()


async def test_a_server_that_stalls_is_given_up(name: str, server: FakeServer) -> None:
    """Beyond that time a thread would wait, and a process could not end."""
    server.will(Reply(body=b'{"results": []}', drip_s=5.0))
    search = search_builder(name)(timeout_s=0.3, replayed=False)
    with pytest.raises(ToolTimeout):
        search.search("ada", 3)
    with pytest.raises(ToolTimeout):
        await search.asearch("ada", 3)


async def test_an_answer_has_a_longest_length(search: SearchTool, server: FakeServer) -> None:
    server.will(Reply(body=b"{" + b" " * MAX_BODY_BYTES + b"}"))
    with pytest.raises(ToolError, match="larger than 8,000,000 bytes"):
        search.search("ada", 3)
    with pytest.raises(ToolError, match="larger than 8,000,000 bytes"):
        await search.asearch("ada", 3)


async def test_no_redirect_is_followed_with_a_key(search: SearchTool, server: FakeServer) -> None:
    with serving() as thief:
        thief.will_answer({"query": {}, "results": [], "web": {}})
        server.will(Reply(status=307, headers=(("Location", f"{thief.url}/search"),)))
        with pytest.raises(ToolError, match="status 307"):
            search.search("ada", 3)
        with pytest.raises(ToolError, match="status 307"):
            await search.asearch("ada", 3)
        assert thief.received == []


async def test_a_wait_that_the_server_asks_for_is_heeded(search: SearchTool, server: FakeServer) -> None:
    server.will(Reply(status=429, headers=(("Retry-After", "7"),)))
    with pytest.raises(ToolError) as caught:
        await search.asearch("ada", 3)
    assert caught.value.retry_after_s == 7.0


async def test_a_failed_search_leaves_claims_unscored(name: str, server: FakeServer, brisk: None) -> None:  # noqa: ARG001
    server.will(Reply(status=500, body=b'{"detail": "no"}'))
    async with FactChecker(search=name, cache=False, patience_s=1.0) as checker:
        report = await checker.acheck("Ada Lovelace was born in London.")
    assert [claim.judgement.unscored_reason for claim in report.claims] == ["tool_failure"]


def test_a_key_is_needed_and_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KINDS[name][1], " ")
    with pytest.raises(ConfigError, match=f"{name} needs a key: set {KINDS[name][1]}"):
        search_builder(name)(timeout_s=5.0, replayed=False)
    assert search_builder(name)(timeout_s=5.0, replayed=True).name == name


def test_a_query_has_a_price(search: SearchTool) -> None:
    assert search.usd_per_query is not None
    assert 0.0 < search.usd_per_query < 0.05
