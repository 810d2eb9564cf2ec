"""Translates exceptions of model client libraries into our own errors, by status code and type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from json import JSONDecodeError
from typing import Any

from factloop.core.errors import FactloopError, ModelRefusal, ToolError, UnreadableAnswer
from factloop.tools.calls.blame import chain, unreachable_words
from factloop.tools.calls.retry import retry_after_s

RETRYABLE_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_REFUSAL_CODES = frozenset({"content_filter", "content_policy_violation"})
NO_MONEY_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_SECRET_HEADERS = ("authorization", "api-key", "x-api-key", "x-goog-api-key")
_UNEXPECTED = (LookupError, TypeError, AttributeError, NameError, AssertionError, NotImplementedError, ImportError)
"""Errors that a client raises by mistake or because of an odd answer. Their type tells more than their text."""
_DROPPED = frozenset({"RemoteProtocolError", "ServerDisconnectedError", "ClientPayloadError", "ConnectionResetError"})
"""Connection errors of `httpx`, `aiohttp` and the system, by name, because some may not be installed."""
_NO_ADDRESS = frozenset({"InvalidURL", "InvalidUrlClientError", "InvalidUrlRedirectClientError"})
"""Errors of the same libraries about the URL in a redirect, which look like a closed connection."""
LONGEST_SAID = 300
_SHORTEST_KEY = 6


def translate(error: Exception, model: str) -> FactloopError:
    """Converts `error` to one of our errors. Client libraries agree on `status_code`, but on little else."""
    ours = next((one for one in chain(error) if isinstance(one, FactloopError)), None)
    if ours is not None:  # the connection for batches raises our errors, and client libraries wrap them
        return ours
    status = _status(error)
    said = without_keys(" ".join(filter(None, (one_line(error), _details(error)))), error)[:LONGEST_SAID]
    if status is None:
        if (refused := unreachable_words(error)) is not None:
            return ToolError(f"{model}: {refused}", tool=model, retryable=True)
        names = {type(cause).__name__ for cause in chain(error)}
        if names & _DROPPED and not names & _NO_ADDRESS:
            said = "the connection was closed before the reply was complete"
        elif (broken := next((one for one in chain(error) if isinstance(one, JSONDecodeError)), None)) is not None:
            return UnreadableAnswer(f"{model}: the answer is not JSON ({broken.msg})", tool=model, retryable=True)
        elif isinstance(error, _UNEXPECTED):
            said = f"{model}: cannot read the answer ({type(error).__name__}: {said})"
            return UnreadableAnswer(said, tool=model, retryable=True)
        # Without a status, the connection failed or the client could not read the answer. Both may be temporary.
        return ToolError(f"{model}: {said}", tool=model, retryable=True)
    code = error_field(error, "code")
    if status == 400 and code in _REFUSAL_CODES:
        return ModelRefusal("the provider's content filter rejected the request", schema="", reply=said)
    return ToolError(
        f"{model}: HTTP {status}: {said}",
        tool=model,
        status=status,
        retry_after_s=asked_wait_s(_headers(error)),
        retryable=status in RETRYABLE_STATUS and code not in NO_MONEY_CODES,
    )


def error_field(error: Exception, field: str) -> str | None:
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error")
        value = (inner if isinstance(inner, dict) else body).get(field)
        return value if isinstance(value, str) else None
    return None


def _details(error: Exception) -> str:
    body = getattr(error, "body", None)
    said = body.get("message") if isinstance(body, dict) else None
    return json.dumps(said, ensure_ascii=False) if isinstance(said, dict | list) else ""


def asked_wait_s(headers: Mapping[str, str]) -> float | None:
    milliseconds = retry_after_s(headers.get("retry-after-ms"), datetime.now(UTC))
    if milliseconds is not None:
        return milliseconds / 1000.0
    return retry_after_s(headers.get("retry-after"), datetime.now(UTC))


def _status(error: Exception) -> int | None:
    for value in (
        getattr(error, "status_code", None),
        getattr(getattr(error, "response", None), "status_code", None),
        getattr(error, "code", None),
    ):
        if isinstance(value, int) and value >= 400:  # some errors have a success status and an unreadable body
            return value
    return None


def without_keys(text: str, answer: object) -> str:
    """Removes the request's credentials from a text, because some servers repeat them."""
    request = getattr(answer, "request", None)
    headers: Any = getattr(request, "headers", None)
    for name in _SECRET_HEADERS:
        value = headers.get(name) if isinstance(headers, Mapping) else None
        key = value.removeprefix("Bearer ").strip() if isinstance(value, str) else ""
        if len(key) >= _SHORTEST_KEY:
            text = text.replace(key, "***")
    return text


def _headers(error: Exception) -> Mapping[str, str]:
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def one_line(error: Exception) -> str:
    causes: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(causes) < 3:
        said = " ".join(str(seen).split()) or type(seen).__name__
        if said not in causes:
            causes.append(said)
        seen = seen.__cause__
    return ": ".join(causes)
