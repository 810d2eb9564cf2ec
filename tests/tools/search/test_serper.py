from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError, ToolError
from factloop.tools.search.serper import SerperSearch
from tests.tools.fake_server import FakeServer

ANSWER = {
    "searchParameters": {"q": "ada lovelace born"},
    "answerBox": {"title": "Ada Lovelace / Born", "answer": "10 December 1815", "link": "https://a.example/ada"},
    "knowledgeGraph": {
        "title": "Ada Lovelace",
        "type": "Mathematician",
        "description": "She wrote the first program.",
        "descriptionLink": "https://b.example/ada",
        "attributes": {"Born": "10 December 1815, London", "Children": 3},
    },
    "organic": [
        {"title": "Ada", "link": "https://c.example", "snippet": "Ada was born in 1815.", "date": "3 Mar 2020"},
        {"title": "No snippet", "link": "https://d.example"},
        {"title": None, "link": "https://e.example", "snippet": "Second.", "position": 3},
    ],
}


def serper(server: FakeServer, **fields: str | int) -> SerperSearch:
    return SerperSearch.model_validate({"api_key": "k3y", "base_url": server.url, **fields})


def test_num_is_what_is_asked_for(server: FakeServer) -> None:
    server.will_answer(ANSWER)
    assert len(serper(server, num=10).search("ada", 2)) == 2
    assert server.received[0].payload == {"q": "ada", "num": 10}


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
    with pytest.raises(ToolError, match="another shape") as caught:
        serper(server).search("ada", 3)
    assert place in str(caught.value)
    assert not caught.value.retryable


def test_pages_without_any_text_are_not_nothing_found(server: FakeServer) -> None:
    pages = {"organic": [{"title": "Ada", "link": "https://a.example"}, {"link": "https://b.example", "snippet": " "}]}
    server.will_answer({**pages, "knowledgeGraph": {"title": "Ada"}}, {**pages, "answerBox": {"answer": "1815"}})
    with pytest.raises(ToolError, match="serper: found pages, and no text of any"):
        serper(server).search("ada", 3)
    assert [hit.passage for hit in serper(server).search("ada", 3)] == ["1815"]


@pytest.mark.parametrize("key", ["", "  ", "ключ", "a\nb"])
def test_missing_or_impossible_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", key)
    with pytest.raises(ConfigError, match="SERPER_API_KEY") as caught:
        SerperSearch()
    assert not key.strip() or key not in str(caught.value)


def test_address_must_be_one() -> None:
    with pytest.raises(ConfigError, match="FACTLOOP_SERPER_URL"):
        SerperSearch.model_validate({"api_key": "k", "base_url": "google"})
