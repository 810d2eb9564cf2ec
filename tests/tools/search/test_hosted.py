"""What is particular of single providers: what they are asked, what they cite, which answers are failures."""

from __future__ import annotations

import pytest

from factloop.core.errors import ToolError
from factloop.tools.search.base import SearchHit
from factloop.tools.search.searxng import SearxngSearch
from factloop.tools.search.serper import SerperSearch
from tests.tools.fake_server import FakeServer

ADA = {"title": "Ada", "link": "https://c.example", "snippet": "Ada was born in 1815.", "date": "3 Mar 2020"}


def serper(server: FakeServer, **fields: str | int) -> SerperSearch:
    return SerperSearch.model_validate({"api_key": "k3y", "base_url": server.url, **fields})


def test_num_is_what_is_asked_for(server: FakeServer) -> None:
    server.will_answer({"organic": [ADA, {"title": "No snippet", "link": "https://d.example"}, ADA, ADA]})
    assert len(serper(server, num=10).search("ada", 2)) == 2
    assert server.received[0].payload == {"q": "ada", "num": 10}


def test_the_text_of_a_panel_is_evidence_beside_pages_without_one(server: FakeServer) -> None:
    server.will_answer({"organic": [{"link": "https://b.example", "snippet": " "}], "answerBox": {"answer": "1815"}})
    assert [hit.passage for hit in serper(server).search("ada", 3)] == ["1815"]


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ({}, "''"),
        ({"message": "something else"}, "''"),
        ({"organic": {"title": "no list"}}, "'organic'"),
        ({"organic": [{"title": "no link", "snippet": "x"}]}, "'organic.0.link'"),
        ({"organic": [], "answerBox": "text"}, "'answerBox'"),
    ],
)
def test_other_shapes_are_errors(server: FakeServer, answer: object, place: str) -> None:
    server.will_answer(answer)
    with pytest.raises(ToolError, match="does not look like") as caught:
        serper(server).search("ada", 3)
    assert place in str(caught.value)
    assert not caught.value.retryable


def test_searxng_cites_dates_and_passes_over_pages_without_text(server: FakeServer) -> None:
    first = {"url": "https://a.example", "title": "Ada", "content": "Born 1815.", "publishedDate": "2020-01-02"}
    second = {"url": "https://b.example", "title": "Nothing in it", "content": ""}
    third = {"url": "https://c.example", "title": "C", "content": "Third.", "publishedDate": None}
    server.will_answer({"results": [first, second, third], "unresponsive_engines": [["bing", "timeout"]]})
    assert SearxngSearch(base_url=server.url, language="en").search("ada", 3) == [
        SearchHit(source="https://a.example", title="Ada", passage="Born 1815.", published="2020-01-02"),
        SearchHit(source="https://c.example", title="C", passage="Third."),
    ]
    assert server.received[0].params == {"q": "ada", "format": "json", "language": "en"}


def test_no_engine_answering_is_a_failure_not_an_empty_result(server: FakeServer) -> None:
    server.will_answer({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]})
    with pytest.raises(ToolError, match="none of its engines") as caught:
        SearxngSearch(base_url=server.url).search("ada", 3)
    assert caught.value.retryable
