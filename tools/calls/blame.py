"""Tells a wrong set-up from a passing failure: before its first answer, a server's refusal is the user's to mend."""

from __future__ import annotations

from typing import NoReturn

from factloop.errors import ConfigError, ToolError, ToolTimeout

SET_UP_WRONG = frozenset({401, 403, 404})


def raise_blamed(error: ToolError, *, answered: bool) -> NoReturn:
    """Raises `error` itself, or a ConfigError where the server never `answered` and refuses us or is out of reach."""
    if answered or isinstance(error, ToolTimeout):
        raise error
    if error.status in SET_UP_WRONG or (error.status == 429 and not error.retryable):
        raise ConfigError(f"{error}: check the key, the name and the base URL") from error
    if error.status is None and error.retryable:
        raise ConfigError(f"{error}: is the server running, and its URL right?") from error
    raise error
