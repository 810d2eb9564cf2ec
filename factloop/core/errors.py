"""Every error that factloop raises: one base, four branches, facts as attributes.

FactloopError
├── ConfigError          the set-up is wrong: fix it and run again
│   ├── MissingExtra     a feature was asked for whose packages are not installed
│   ├── RecordingMissing a replay was asked for what was not recorded
│   ├── RunInUse         another process is at work on the run directory
│   └── NoPlaceToKeep    answers cannot be kept at this place
├── DataError            an input file or record is malformed
├── ToolError            a server, a search or a file system failed
│   ├── ToolTimeout      no answer within the time allowed
│   ├── BudgetExceeded   the user's own limit on calls or money was reached
│   └── DeadlineExceeded the check had to end
└── ModelOutputError     the model answered, and the answer cannot be used
    └── ModelRefusal     the model declined to answer
"""

from __future__ import annotations

TOO_MANY_REQUESTS = 429


class FactloopError(Exception):
    """Base of all errors raised on purpose. `retryable` says whether the same call may succeed later."""

    retryable: bool = False


class ConfigError(FactloopError):
    """The set-up is wrong (flag, environment, key, run directory, cache): mend it and run again.

    Raised before anything is spent, with one exception: a journal that fails and a damaged cache raise it at any time.
    That stops the run; what was kept until then is not paid for again.
    """


class MissingExtra(ConfigError):
    """A feature was asked for whose packages are not installed; `extra` is the extra of factloop that brings them."""

    def __init__(self, message: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(message)


class RecordingMissing(ConfigError):
    """A replay's recording lacks an answer. This stops the run; a replay never asks a server instead."""


class RunInUse(ConfigError):
    """Another process is at work on the run directory."""


class NoPlaceToKeep(ConfigError):
    """Answers cannot be kept on this disk: no rights, no room, no such place. Damaged files raise other errors."""


class DataError(FactloopError):
    """An input is malformed. The message names file, line and field where they are known."""

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        self.path, self.line, self.field = path, line, field
        place = ":".join(str(part) for part in (path, line) if part is not None)
        named = f"{place}: field {field!r}" if field is not None and place else place
        self.reason = message if line is None else f"line {line}: {message}"
        """The message without the file."""
        super().__init__(f"{named}: {message}" if named else message)


class ToolError(FactloopError):
    """A tool failed: network, status, unreadable body. `status` is the HTTP status where there was one.

    With `wants_pause` the server is there, and wants no request for a while: by status 429, or in words of its own.
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
    """The tool gave no answer within `timeout_s` seconds."""

    def __init__(self, *, tool: str, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        super().__init__(f"{tool}: no answer within {timeout_s:g} s", tool=tool, retryable=True)


class BudgetExceeded(ToolError):
    """The next call would pass the user's limit on calls or money; it was not made.

    `of` says whose limit it is, as in "this check"; empty for that of the whole run.
    """

    def __init__(self, limit: str, of: str = "") -> None:
        self.limit, self.of = limit, of
        super().__init__(f"the budget{f' of {of}' if of else ''} is used up: {limit}", tool="budget")


class DeadlineExceeded(ToolError):
    """The check had to end; the call was given up, or not made."""

    def __init__(self, deadline_s: float) -> None:
        self.deadline_s = deadline_s
        super().__init__(f"the check ran into its deadline of {deadline_s:g} s", tool="deadline")


class ModelOutputError(FactloopError):
    """The model's reply cannot be read as the schema asked for. `reply` holds what it said.

    `model`: its name, where people read the message, to whom the schema says nothing.
    """

    def __init__(self, message: str, *, schema: str, reply: str, model: str | None = None) -> None:
        self.message, self.schema, self.reply = message, schema, reply
        super().__init__(f"{model or schema}: {message}")


class AskedNoFurther(ModelOutputError):
    """The model was not asked, as too many of its answers in this check could not be read."""


class ModelRefusal(ModelOutputError):
    """The model (or its provider's filter) declined to answer."""
