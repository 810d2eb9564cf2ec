"""Turns rejections and failures into HTTP statuses and bodies that never reveal a path, key or traceback."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TypeVar

from pydantic import ValidationError

from factloop.core.errors import (
    BudgetExceeded,
    ConfigError,
    DataError,
    FactloopError,
    ModelOutputError,
    ToolError,
    ToolTimeout,
    UnreadableAnswer,
)
from factloop.service.shapes import ErrorBody, ErrorWords

LONGEST_MESSAGE = 500
RETRY_AFTER_S = 10
NOT_SET_UP = "the service is not configured correctly; its operator can find the details in the log"
STATUS_OF_FAILURE = {
    "invalid_input": 422,
    "budget": 503,
    "timeout": 504,
    "tool_failure": 502,
    "model_output": 502,
    "not_set_up": 503,
    "cancelled": 409,
    "stopping": 503,
    "storage_full": 507,
}
"""For callers who wait for a job that fails. All other failures have status 500."""
T = TypeVar("T")

log = logging.getLogger(__name__)


class RequestRefusal(Exception):
    """Rejects a request with an HTTP status. `page` is HTML for people who open the URL in a browser."""

    def __init__(
        self,
        status: int,
        type: str,
        message: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
        page: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.headers, self.page = status, dict(headers or {}), page
        self.words = error_words(type, message, field)

    def body(self, request_id: str) -> tuple[bytes, str]:
        if self.page is not None:
            return self.page.encode(), "text/html; charset=utf-8"
        body = ErrorBody(error=self.words, request_id=request_id)
        return body.model_dump_json(exclude_none=True).encode(), "application/json"


def invalid(message: str, field: str | None = None) -> RequestRefusal:
    return RequestRefusal(422, "invalid_input", message, field=field)


def not_found(what: str) -> RequestRefusal:
    return RequestRefusal(404, "not_found", f"there is no such {what}")


def unavailable(type: str, message: str, retry_after_s: int | None = RETRY_AFTER_S) -> RequestRefusal:
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    return RequestRefusal(503, type, message, headers=headers)


def not_kept() -> RequestRefusal:
    """For requests that arrive while the database is unavailable or not writable."""
    return unavailable("not_kept", "the service cannot save jobs at the moment; try again later")


def stopping() -> RequestRefusal:
    return unavailable("stopping", "the service is shutting down")


def refuse_without_evaluation(what: str) -> None:
    if find_spec("factloop.evaluation") is None:
        raise unavailable("not_set_up", f"{what} need factloop.evaluation, which is not installed", None)


def read_saved(read: Callable[[str], T], text: str) -> T:
    """Reads a text that the service saved. Raises RequestRefusal if the text is damaged."""
    try:
        return read(text)
    except ValidationError as error:
        log.error("a saved text is damaged: %s", error.title)
        raise RequestRefusal(409, "damaged", "the saved report or its labels are damaged") from error


def error_words(type: str, message: str, field: str | None = None) -> ErrorWords:
    """The message may quote the caller's input, so it is shortened, and lone surrogates are removed."""
    return ErrorWords(type=type, message=_cut(message), field=None if field is None else _cut(field))


def failure_words(error: FactloopError) -> ErrorWords:
    """Hides details of an invalid configuration, such as file names."""
    match error:
        case DataError():
            return error_words("invalid_input", str(error), error.field)
        case BudgetExceeded():
            return error_words("budget", str(error))
        case ToolTimeout():
            return error_words("timeout", str(error))
        case ToolError():
            status = "" if error.status is None else f" with status {error.status}"
            return error_words("tool_failure", f"{error.tool} failed{status}")
        case ModelOutputError():
            return error_words("model_output", str(error))
        case ConfigError() if isinstance(error.__cause__, UnreadableAnswer):
            return error_words("tool_failure", f"{error.__cause__.tool} sends only answers that cannot be read")
        case ConfigError():
            return error_words("not_set_up", NOT_SET_UP)
        case _:
            return error_words("failed", "the job failed")


def _cut(text: str) -> str:
    whole = text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= LONGEST_MESSAGE else whole[: LONGEST_MESSAGE - 1] + "…"
