"""Tavily, Exa and Brave over loopback HTTP: what they are asked, what they cite, and that no failure finds nothing."""

from __future__ import annotations

import pytest

from factloop import FactChecker
from factloop.core.errors import ToolError
from factloop.tools.search.base import SearchTool
from factloop.tools.search.brave import BraveSearch
from factloop.tools.search.build import search_builder
from factloop.tools.search.exa import ExaSearch
from factloop.tools.search.tavily import TavilySearch
from tests.tools.fake_server import FakeServer

KEY = "t0p-s3cret"
KINDS = {
    "tavily": (TavilySearch, "TAVILY_API_KEY", "FACTLOOP_TAVILY_URL"),
    "exa": (ExaSearch, "EXA_API_KEY", "FACTLOOP_EXA_URL"),
    "brave": (BraveSearch, "BRAVE_SEARCH_API_KEY", "FACTLOOP_BRAVE_URL"),
}


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


def test_a_query_has_a_price(search: SearchTool) -> None:
    assert search.usd_per_query is not None
    assert 0.0 < search.usd_per_query < 0.05
