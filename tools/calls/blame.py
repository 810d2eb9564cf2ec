"""Tells a wrong set-up from a passing failure: before its first answer, a server's refusal is the user's to mend."""

from __future__ import annotations

from factloop.errors import ConfigError, ToolError, ToolTimeout

SET_UP_WRONG = frozenset({401, 403, 404})


def blame(error: ToolError, *, answered: bool) -> ToolError | ConfigError:
    """`error` itself, or a ConfigError where the server never `answered` and refuses us or cannot be reached."""
    if answered or isinstance(error, ToolTimeout):
        return error
    if error.status in SET_UP_WRONG or (error.status == 429 and not error.retryable):
        return ConfigError(f"{error}: check the key, the name and the base URL")
    if error.status is None and error.retryable:
        return ConfigError(f"{error}: is the server running, and its URL right?")
    return error
