"""Translates whatever a model's client library raises into factloop's errors, by status code and type."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from typing import Any

from factloop.errors import FactloopError, ModelRefusal, ToolError

RETRYABLE_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_REFUSAL_CODES = frozenset({"content_filter", "content_policy_violation"})
_NO_MONEY_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


def translate(error: Exception, model: str) -> FactloopError:
    """The factloop error that `error` amounts to. Client libraries agree on `status_code`, little else."""
    if isinstance(error, FactloopError):
        return error
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        # No status: the connection failed, or the client could not make sense of the answer. Both may pass.
        return ToolError(f"{model}: {_one_line(error)}", tool=model, retryable=True)
    code = error_field(error, "code")
    if status == 400 and code in _REFUSAL_CODES:
        return ModelRefusal("the provider's filter refused the request", schema="", reply=_one_line(error))
    return ToolError(
        f"{model}: HTTP {status}: {_one_line(error)}",
        tool=model,
        status=status,
        retry_after_s=retry_after_s(_headers(error)),
        retryable=status in RETRYABLE_STATUS and code not in _NO_MONEY_CODES,
    )


def error_field(error: Exception, field: str) -> str | None:
    """A field of the provider's error object (OpenAI: `code`, `param`, `type`), where there is one."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error")
        value = (inner if isinstance(inner, dict) else body).get(field)
        return value if isinstance(value, str) else None
    return None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks us to wait: `retry-after-ms`, or `Retry-After` as seconds or as a date."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1000.0)
        value = headers.get("retry-after")
        if value is None:
            return None
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def _headers(error: Exception) -> Mapping[str, str]:
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _one_line(error: Exception, longest: int = 300) -> str:
    causes: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(causes) < 3:
        said = " ".join(str(seen).split()) or type(seen).__name__
        if said not in causes:
            causes.append(said)
        seen = seen.__cause__
    return ": ".join(causes)[:longest]
