from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError, ToolError
from factloop.tools.search.base import SearchHit
from factloop.tools.search.serper import SerperSearch
from tests.tools.fake_server import FakeServer, Reply

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


def test_hits_in_order_with_their_sources(server: FakeServer) -> None:
    server.will_answer(ANSWER)
    assert serper(server, gl="gb", hl="en").search("ada lovelace born", 10) == [
        SearchHit(source="https://a.example/ada", title="Ada Lovelace / Born", passage="10 December 1815"),
        SearchHit(
            source="https://b.example/ada",
            title="Ada Lovelace (Mathematician)",
            passage="She wrote the first program. Born: 10 December 1815, London. Children: 3.",
        ),
        SearchHit(source="https://c.example", title="Ada", passage="Ada was born in 1815.", published="3 Mar 2020"),
        SearchHit(source="https://e.example", passage="Second."),
    ]
    (request,) = server.received
    assert (request.method, request.path, request.headers["X-API-KEY"]) == ("POST", "/search", "k3y")
    assert request.payload == {"q": "ada lovelace born", "num": 10, "gl": "gb", "hl": "en"}


def test_panels_without_an_address_point_to_the_query(server: FakeServer) -> None:
    server.will_answer({"answerBox": {"snippet": "42"}, "knowledgeGraph": {"description": "A number."}})
    hits = serper(server).search("what is it?", 3)
    assert [hit.source for hit in hits] == ["https://www.google.com/search?q=what+is+it%3F"] * 2


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


@pytest.mark.parametrize("status", [401, 403])
def test_refused_key_names_the_variable(server: FakeServer, status: int) -> None:
    server.will(Reply(status=status))
    with pytest.raises(ToolError, match="the key in SERPER_API_KEY was refused"):
        serper(server).search("ada", 3)


def test_key_and_address_from_the_environment(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.will_answer({"organic": []})
    monkeypatch.setenv("SERPER_API_KEY", " from-env\n")
    monkeypatch.setenv("FACTLOOP_SERPER_URL", server.url + "/")
    assert SerperSearch().search("ada", 3) == []
    assert server.received[0].headers["X-API-KEY"] == "from-env"


@pytest.mark.parametrize("key", ["", "  ", "ключ", "a\nb"])
def test_missing_or_impossible_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", key)
    with pytest.raises(ConfigError, match="SERPER_API_KEY") as caught:
        SerperSearch()
    assert not key.strip() or key not in str(caught.value)


def test_address_must_be_one() -> None:
    with pytest.raises(ConfigError, match="FACTLOOP_SERPER_URL"):
        SerperSearch.model_validate({"api_key": "k", "base_url": "google"})


def test_key_is_shown_nowhere(server: FakeServer) -> None:
    tool = serper(server)
    assert "k3y" not in f"{tool!r} {tool} {tool.model_dump()} {tool.identity}"
