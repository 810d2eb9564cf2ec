"""What is given to `FactChecker` and is none of what it takes is refused in one line, never passed over."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from factloop import ConfigError, DataError, FactChecker, FactloopError
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments

TEXT = "Ada Lovelace was born in London."
CHAT = FakeListChatModel(responses=["x"])


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"model": object()}, "model: object is not a chat model: give a name or a LangChain chat model"),
        ({"model": 5}, "model: int is not a chat model"),
        ({"model": CHAT.bind(stop=["x"])}, "is not a chat model: .* with nothing bound to it"),
        ({"model": CHAT.with_retry()}, "is not a chat model: .* with nothing bound to it"),
        ({"model": CHAT.with_fallbacks([CHAT])}, "is not a chat model: .* with nothing bound to it"),
        ({"docs": 5}, "docs: int is not a path"),
        ({"docs": ["a.md", 5]}, "docs: int is not a path"),
        ({"docs": b"a.md"}, "docs: bytes is not a path"),
        ({"search": object()}, "object is not a search"),
        ({"search": 5}, "int is not a search"),
        ({"search": [object()]}, "object is not a search"),
        ({"search": "bing"}, "bing"),
        ({"docs": "nope"}, "nope: there is no such file or folder"),
        ({"docs": [".", "~/nope/deep"]}, "~/nope/deep: there is no such file or folder"),
    ],
)
def test_a_wrong_set_up_is_named(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as raised:
        FactChecker(**given)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "kind", "complaint"),
    [
        ({"facts": ["x"]}, DataError, "facts, number 1: GivenFacts are needed, not str"),
        ({"facts": 5}, DataError, "facts: a list of GivenFacts is needed, not int"),
        ({"limits": {"deadline_s": 1}}, ConfigError, "limits: Limits is needed, not dict"),
        ({"sources": ["a.md"]}, ConfigError, r"sources: Sources is needed, not list; Sources\(\(Given"),
    ],
)
def test_a_wrong_request_is_named(given: dict[str, Any], kind: type[FactloopError], complaint: str) -> None:
    with pytest.raises(kind, match=complaint):
        FactChecker(cache=False).check(TEXT, **given)


def test_sources_are_made_as_the_refusal_of_a_list_says() -> None:
    sources = Sources((GivenDocuments([Document("Rome is in Italy.")]),))
    report = FactChecker().check("Rome is in Italy.", sources=sources)
    assert report.counts.supported == 1
