"""Defines all errors that factloop raises. Each error stores the details in its attributes.

FactloopError
├── ConfigError          the configuration is wrong: fix it and run again
│   ├── MissingExtra     the packages that a feature needs are not installed
│   ├── RecordingMissing the recording being replayed contains no answer to a request
│   ├── RunInUse         another process is using the run directory
│   └── NoPlaceToKeep    answers cannot be saved in this location
├── DataError            an input file or record is malformed
├── ToolError            a server, a search or a file system failed
│   ├── ToolTimeout      no answer before the timeout
│   ├── UnreadableAnswer the server's answer has an unknown form
│   ├── BudgetExceeded   the user's limit on calls or cost was reached
│   └── DeadlineExceeded the check reached its deadline
└── ModelOutputError     the model's answer cannot be used
    ├── AskedNoFurther   the model was not called, because too many of its replies could not be parsed
    └── ModelRefusal     the model declined to answer
"""

from __future__ import annotations

TOO_MANY_REQUESTS = 429


class FactloopError(Exception):
    """Base class for all errors that factloop raises. `retryable` says whether the same call may succeed later."""

    retryable: bool = False


class ConfigError(FactloopError):
    """A flag, environment variable, key, run directory or cache is wrong. Usually raised before any money is spent."""


class MissingExtra(ConfigError):
    """A feature needs packages that are not installed. `extra` is the factloop extra that installs them."""

    def __init__(self, message: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(message)


class RecordingMissing(ConfigError):
    """The recording being replayed has no answer to a request. No server is contacted."""


class RunInUse(ConfigError):
    """Another process is using the run directory."""


class NoPlaceToKeep(ConfigError):
    """Answers cannot be saved: no permission, no space or no such path. Damaged files raise other errors."""


class DataError(FactloopError):
    """An input is malformed. The message names the file, line and field if they are known."""

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        self.path, self.line, self.field = path, line, field
        place = ":".join(str(part) for part in (path, line) if part is not None)
        named = f"{place}: field {field!r}" if field is not None and place else place
        self.reason = message if line is None else f"line {line}: {message}"
        """The message with the line number but without the file name."""
        super().__init__(f"{named}: {message}" if named else message)


class ToolError(FactloopError):
    """A tool failed: a network error, an HTTP error or an unreadable body. `status` is the HTTP status, if any.

    `wants_pause` is set if the server is up but asks clients to slow down, either with status 429 or in its message.
    """

    def __init__(
        self,
        message: str,
        *,
        tool: str,
        status: int | None = None,
        retry_after_s: float | None = None,
        retryable: bool = False,
        wants_pause: bool = False,
    ) -> None:
        self.tool, self.status, self.retry_after_s, self.retryable = tool, status, retry_after_s, retryable
        self.wants_pause = wants_pause or status == TOO_MANY_REQUESTS
        super().__init__(message)


class ToolTimeout(ToolError):
    """The tool did not answer within `timeout_s` seconds."""

    def __init__(self, *, tool: str, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        super().__init__(f"{tool}: no answer within {timeout_s:g} s", tool=tool, retryable=True)


class UnreadableAnswer(ToolError):
    """The server answered in an unexpected form, such as a web page instead of JSON."""


class BudgetExceeded(ToolError):
    """A call would exceed the user's limit. `of` names what is limited, or is empty for the whole run."""

    def __init__(self, limit: str, of: str = "") -> None:
        self.limit, self.of = limit, of
        super().__init__(f"the budget{f' for {of}' if of else ''} is used up: {limit}", tool="budget")


class DeadlineExceeded(ToolError):
    """The check reached its deadline, so a call was abandoned or not made."""

    def __init__(self, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        super().__init__(f"the check reached its deadline of {deadline_s:g} s", tool="deadline")


class ModelOutputError(FactloopError):
    """The reply does not match the schema. The message begins with `model` or, if that is None, with `schema`."""

    def __init__(self, message: str, *, schema: str, reply: str, model: str | None = None) -> None:
        self.message, self.schema, self.reply = message, schema, reply
        super().__init__(f"{model or schema}: {message}")


class AskedNoFurther(ModelOutputError):
    """The model was not called, because too many of its replies in this check could not be parsed."""


class ModelRefusal(ModelOutputError):
    """The model, or its provider's content filter, declined to answer."""
