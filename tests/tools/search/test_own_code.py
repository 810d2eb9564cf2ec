"""Searches that are the user's own code: what they raise is in the log and in the report, without secrets."""

from __future__ import annotations

import logging

import pytest
from langchain_core.tools import tool

from factloop.core.errors import ToolError
from factloop.tools.search.adapter import as_search_tool

SECRET = "a-secret-of-this-store"


def test_what_a_tool_raises_is_shown_alike_with_its_traceback_for_those_who_debug(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORE_TOKEN", SECRET)

    @tool
    def look_up(query: str) -> str:
        """Looks something up."""
        try:
            raise ConnectionError("no answer of https://store.example/q?sig=zzz999")
        except ConnectionError as error:
            raise RuntimeError(f"nothing about {query} with {SECRET}") from error

    with (
        caplog.at_level(logging.DEBUG),
        pytest.raises(ToolError, match=r"look_up: the tool failed .*nothing about Ada"),
    ):
        as_search_tool(look_up).search("Ada", 3)
    short, long = [record for record in caplog.records if record.name.endswith("adapter")]
    assert (short.levelno, long.levelno) == (logging.WARNING, logging.DEBUG)
    assert "ConnectionError: no answer of https://store.example/q?[secret]\n" in long.getMessage()
    assert long.getMessage().endswith("RuntimeError: nothing about Ada with [secret]")
    assert not any(secret in caplog.text for secret in (SECRET, "q?sig=zzz999"))
