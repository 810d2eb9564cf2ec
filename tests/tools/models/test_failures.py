from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from typing import Any
from urllib.parse import urlsplit

import pytest

from factloop.core.errors import ConfigError, FactloopError, ModelRefusal, ToolError
from factloop.tools.models.chat import build_chat_model
from factloop.tools.models.failures import asked_wait_s, error_field, translate
from tests.tools.models.chat_server import KEY, ChatServer, Reply, completion, failure

CONNECTION_REFUSED = "http://127.0.0.1:9/v1"


async def raised_by(base_url: str, monkeypatch: pytest.MonkeyPatch) -> Exception:
    """The exception of the client library when it asks the server there."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = build_chat_model("openai:scripted", base_url=base_url)
    try:
        await chat.model.ainvoke("hello")
    except Exception as error:  # noqa: BLE001 - whatever it is, is what we look at
        return error
    finally:
        await chat.aclose()
    raise AssertionError("it was answered")


@pytest.mark.parametrize(
    ("reply", "status", "retryable", "retry_after"),
    [
        (failure(401, "Incorrect API key provided"), 401, False, None),
        (failure(403), 403, False, None),
        (failure(404, "The model does not exist", code="model_not_found"), 404, False, None),
        (failure(400, "Unsupported parameter", param="temperature"), 400, False, None),
        (failure(422), 422, False, None),
        (failure(408), 408, True, None),
        (failure(409), 409, True, None),
        (failure(429, Retry_After="7"), 429, True, 7.0),
        (failure(429, Retry_After="1.5"), 429, True, 1.5),
        (failure(429, retry_after_ms="250", Retry_After="9"), 429, True, 0.25),
        (failure(429), 429, True, None),
        (failure(429, code="insufficient_quota", Retry_After="7"), 429, False, 7.0),
        (failure(500), 500, True, None),
        (failure(503, Retry_After="2"), 503, True, 2.0),
        (failure(529), 529, True, None),
        (Reply(502, b"<html>Bad Gateway</html>", content_type="text/html"), 502, True, None),
        (Reply(500, b""), 500, True, None),
    ],
)
async def test_a_status_decides(
    server: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    reply: Reply,
    status: int,
    retryable: bool,
    retry_after: float | None,
) -> None:
    server.will(reply)
    error = translate(await raised_by(server.url, monkeypatch), "openai:scripted")
    assert isinstance(error, ToolError)
    assert (error.status, error.retryable, error.retry_after_s) == (status, retryable, retry_after)
    assert str(error).startswith(f"openai:scripted: HTTP {status}: ")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>Welcome</html>", content_type="text/html"),
        Reply(200, b"not JSON"),
        Reply(200, b""),
        Reply(200, b"{}"),
        Reply(200, b'{"choices": []}'),
        Reply(200, b'{"choices": null}'),
        Reply(200, completion({"content": "hi"}).body, cut_at=40),
    ],
    ids=["page", "no JSON", "empty", "no choices", "empty choices", "null choices", "broken off"],
)
async def test_an_answer_that_is_none_may_pass(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    server.will(reply)
    error = translate(await raised_by(server.url, monkeypatch), "openai:scripted")
    assert isinstance(error, ToolError)
    assert (error.status, error.retryable) == (None, True)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            Reply(200, completion({"content": "hi"}).body, cut_at=40),
            "the connection was closed before the reply was whole",
        ),
        (Reply(200, b'{"choices": [{"message": "un'), "its answer is not JSON (Unterminated string starting at)"),
    ],
)
async def test_what_became_of_an_answer_is_told_in_words_for_people(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, reply: Reply, told: str
) -> None:
    server.will(reply)
    error = translate(await raised_by(server.url, monkeypatch), "m")
    assert str(error) == f"m: {told}"


async def test_a_refused_connection_may_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    error = translate(await raised_by(CONNECTION_REFUSED, monkeypatch), "openai:scripted")
    assert isinstance(error, ToolError)
    assert (error.status, error.retryable) == (None, True)
    assert "\n" not in str(error)


async def test_a_redirect_to_where_nothing_listens_is_blamed_on_that_place(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.will(Reply(307, headers=(("Location", f"{CONNECTION_REFUSED}/x"),)))
    error = translate(await raised_by(server.url, monkeypatch), "m")
    asked = urlsplit(server.url).netloc
    assert str(error) == f"m: connection refused at 127.0.0.1:9; {asked} redirects there"


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
async def test_the_provider_s_filter_is_a_refusal(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    server.will(failure(400, "filtered", code=code))
    error = translate(await raised_by(server.url, monkeypatch), "openai:scripted")
    assert isinstance(error, ModelRefusal)
    assert "filtered" in error.reply


@pytest.mark.parametrize("status", [400, 401, 500])
async def test_a_key_that_the_server_echoes_is_not_repeated(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    server.will(failure(status, f"bad key {KEY} in 'Bearer {KEY}'"))
    error = translate(await raised_by(server.url, monkeypatch), "openai:scripted")
    assert KEY not in str(error)
    assert "bad key ***" in str(error)


async def test_a_message_is_one_line_of_bounded_length(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.will(failure(500, "line\n" * 100_000))
    error = translate(await raised_by(server.url, monkeypatch), "m")
    assert len(str(error)) < 400
    assert "\n" not in str(error)


def test_our_own_errors_pass_through() -> None:
    ours: FactloopError = ConfigError("no")
    assert translate(ours, "m") is ours


class _Response:
    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


class OtherLibraryError(Exception):
    """Errors of client libraries, reduced to where they keep their status."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__("failed")
        vars(self).update(attributes)


@pytest.mark.parametrize(
    "error",
    [
        OtherLibraryError(status_code=503),
        OtherLibraryError(response=_Response(503)),  # httpx.HTTPStatusError
        OtherLibraryError(code=503),  # google.genai
    ],
)
def test_other_libraries_keep_the_status_elsewhere(error: Exception) -> None:
    translated = translate(error, "m")
    assert isinstance(translated, ToolError)
    assert (translated.status, translated.retryable) == (503, True)


def test_a_textual_code_is_no_status() -> None:
    translated = translate(OtherLibraryError(code="server_error"), "m")
    assert isinstance(translated, ToolError)
    assert translated.status is None


def test_the_cause_is_named_where_the_error_says_little() -> None:
    error = asyncio.InvalidStateError()
    error.__cause__ = OSError("no route")
    assert str(translate(error, "m")) == "m: InvalidStateError: no route"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 99 Foo 2025"}, None),
        ({"retry-after": "Wed, 01 Jan 2020 00:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "nan", "retry-after": "3"}, 3.0),
        ({"retry-after-ms": "x"}, None),
    ],
)
def test_delays_asked_for(headers: dict[str, str], expected: float | None) -> None:
    assert asked_wait_s(headers) == expected


def test_a_delay_may_be_a_date() -> None:
    in_a_minute = formatdate(time.time() + 60, usegmt=True)
    delay_s = asked_wait_s({"retry-after": in_a_minute})
    assert delay_s == pytest.approx(60.0, abs=2.0)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"error": {"param": "temperature"}}, "temperature"),
        ({"param": "temperature"}, "temperature"),
        ({"error": "text"}, None),
        ({"error": {"param": 3}}, None),
        ("text", None),
        (None, None),
    ],
)
def test_fields_of_an_error(body: object, expected: str | None) -> None:
    assert error_field(OtherLibraryError(body=body), "param") == expected
