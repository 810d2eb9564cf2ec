"""Searches that are the user's own code: what they raise is in the log and in the report, without secrets."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool

from factloop import FactChecker, UnscoredReason
from factloop.core.errors import ToolError
from factloop.integrations.langchain import FactCheckRunnable
from factloop.tools.search.adapter import as_search_tool

SECRET = "a-secret-of-this-store"


class Down(BaseRetriever):
    """Raises what it is given."""

    error: Any

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002 - the base class has them
        raise self.error


class DownAsynchronously(Down):
    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:  # noqa: ARG002 - the base class has them
        raise self.error


@pytest.mark.parametrize("kind", [Down, DownAsynchronously])
async def test_what_a_retriever_raises_is_in_the_report_and_in_the_log(
    kind: type[Down], caplog: pytest.LogCaptureFixture
) -> None:
    said = "retriever: the retriever failed (RuntimeError: vector store down)"
    check = FactCheckRunnable(FactChecker(cache=False), retriever=kind(error=RuntimeError("vector store\n down")))
    (claim,) = (await check.ainvoke({"answer": "Ada Lovelace was born in London."})).claims
    assert claim.judgement.unscored_reason is UnscoredReason.TOOL_FAILURE
    assert said in claim.judgement.rationale
    assert said in [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (RuntimeError(f"no access with {SECRET}"), "RuntimeError: no access with [secret]"),
        (RuntimeError("postgres://ada:engine@db/facts is down"), "RuntimeError: postgres://[secret]@db/facts is down"),
        (RuntimeError(), "RuntimeError"),
        (ValueError(500 * "x"), f"ValueError: {300 * 'x'}"),
        (
            httpx.HTTPError("the key hush-hush is wrong"),
            "HTTPError: the key *** is wrong",
        ),
        (
            OSError("404 for url: https://store.example/q?api_key=zzz999&q=Ada (no such page)"),
            "OSError: 404 for url: https://store.example/q?[secret] (no such page)",
        ),
        (OSError("retries exceeded with url: /q?q=Ada&sig=zzz999"), "OSError: retries exceeded with url: /q?[secret]"),
        (RuntimeError("user=ada password=zzz999, down"), "RuntimeError: user=ada password=[secret], down"),
        (RuntimeError("x-api-key: zzz999; later"), "RuntimeError: x-api-key: [secret]; later"),
        (RuntimeError("Authorization: Basic zzz999"), "RuntimeError: Authorization: [secret]"),
        (RuntimeError({"api-key": "zzz 999", "k": 3}), "RuntimeError: {'api-key': [secret], 'k': 3}"),
        (RuntimeError('{"client_secret": "zzz999"}'), 'RuntimeError: {"client_secret": [secret]}'),
        (RuntimeError('cut off: {"client_secret": "zzz 999'), 'RuntimeError: cut off: {"client_secret": [secret]'),
        (RuntimeError("is it there? no: 1 = 1, key == 2"), "RuntimeError: is it there? no: 1 = 1, key == 2"),
    ],
)
def test_no_secret_is_shown(
    error: Exception, shown: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("STORE_TOKEN", SECRET)
    if isinstance(error, httpx.HTTPError):
        error.request = httpx.Request("GET", "http://localhost", headers={"Authorization": "Bearer hush-hush"})
    with pytest.raises(ToolError) as failure:
        as_search_tool(Down(error=error)).search("Ada", 3)
    assert str(failure.value) == f"retriever: the retriever failed ({shown})"
    assert SECRET not in caplog.text


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
    short, long = [record for record in caplog.records if record.name.endswith("own_code")]
    assert (short.levelno, long.levelno) == (logging.WARNING, logging.DEBUG)
    assert "ConnectionError: no answer of https://store.example/q?[secret]\n" in long.getMessage()
    assert long.getMessage().endswith("RuntimeError: nothing about Ada with [secret]")
    assert not any(secret in caplog.text for secret in (SECRET, "q?sig=zzz999"))
