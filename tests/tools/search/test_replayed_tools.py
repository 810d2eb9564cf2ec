"""Search tools whose answers are all recorded need neither key nor address, and are named as they are live."""

from __future__ import annotations

import pytest

from factloop.tools.search.build import build_search_tools, built_in_searches

NAMES = list(built_in_searches())
VARIABLES = {
    **dict.fromkeys(("SERPER_API_KEY", "TAVILY_API_KEY", "EXA_API_KEY", "BRAVE_SEARCH_API_KEY"), "a key"),
    "FACTLOOP_SERPER_URL": "http://localhost:1",
    "FACTLOOP_SEARXNG_URL": "http://localhost:2",
}
"""What the live ones need."""


def test_they_are_recorded_under_the_same_name_wherever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    replayed = build_search_tools(NAMES, replayed=True)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    live = build_search_tools(NAMES)
    assert [tool.recorded_as for tool in live] == [tool.recorded_as for tool in replayed]
    assert [tool.description for tool in live] == [tool.description for tool in replayed]  # models are shown it
    assert len({tool.recorded_as for tool in live}) == len(NAMES)


def test_documents_are_searched_anew() -> None:
    (documents,) = build_search_tools([], ["examples/lighthouse/sources"])
    assert documents.recorded_as is None
