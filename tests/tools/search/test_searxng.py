from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError, ToolError
from factloop.tools.search.base import SearchHit
from factloop.tools.search.searxng import SearxngSearch
from tests.tools.fake_server import FakeServer


def test_hits(server: FakeServer) -> None:
    server.will_answer(
        {
            "query": "ada",
            "results": [
                {"url": "https://a.example", "title": "Ada", "content": "Born 1815.", "publishedDate": "2020-01-02"},
                {"url": "https://b.example", "title": "Nothing in it", "content": ""},
                {"url": "https://c.example", "title": "C", "content": "Third.", "publishedDate": None},
            ],
            "unresponsive_engines": [["bing", "timeout"]],
        }
    )
    assert SearxngSearch(base_url=server.url, language="en").search("ada", 3) == [
        SearchHit(source="https://a.example", title="Ada", passage="Born 1815.", published="2020-01-02"),
        SearchHit(source="https://c.example", title="C", passage="Third."),
    ]
    assert server.received[0].path == "/search"
    assert server.received[0].params == {"q": "ada", "format": "json", "language": "en"}


def test_no_engine_answering_is_a_failure_not_an_empty_result(server: FakeServer) -> None:
    server.will_answer({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}, {"results": []})
    tool = SearxngSearch(base_url=server.url)
    with pytest.raises(ToolError, match="none of its engines") as caught:
        tool.search("ada", 3)
    assert caught.value.retryable
    assert tool.search("ada", 3) == []


@pytest.mark.parametrize("answer", [{}, {"results": None}, {"results": [{"title": "no address"}]}])
def test_other_shapes_are_errors(server: FakeServer, answer: object) -> None:
    server.will_answer(answer)
    with pytest.raises(ToolError, match=r"another shape.*'results"):
        SearxngSearch(base_url=server.url).search("ada", 3)


def test_address_from_the_environment(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="FACTLOOP_SEARXNG_URL"):
        SearxngSearch()
    monkeypatch.setenv("FACTLOOP_SEARXNG_URL", server.url.replace("http://", "http://me:pw@"))
    server.will_answer({"results": []})
    tool = SearxngSearch()
    assert tool.search("ada", 3) == []
    assert server.received[0].headers["Authorization"].startswith("Basic ")
    assert "pw" not in tool.identity
