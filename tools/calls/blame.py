"""Tells a wrong set-up from a passing failure: before its first answer, a server's refusal is the user's to mend."""

from __future__ import annotations

from typing import NoReturn

from factloop.core.errors import ConfigError, ToolError, ToolTimeout

SET_UP_WRONG = frozenset({401, 403, 404})
OUT_OF_REACH = "is the server running, and its URL right?"


def raise_blamed(error: ToolError, *, answered: bool) -> NoReturn:
    """Raises `error` itself, or a ConfigError where the server never `answered` and refuses us or is out of reach."""
    if answered or isinstance(error, ToolTimeout):
        raise error
    if is_wrong_set_up(error):
        raise ConfigError(f"{error}: check the key, the name and the base URL") from error
    if is_out_of_reach(error):
        raise ConfigError(f"{error}: {OUT_OF_REACH}") from error
    raise error


def is_wrong_set_up(error: ToolError) -> bool:
    """Whether the server is there and refuses us: for the key, the address, or a quota that is used up."""
    return error.status in SET_UP_WRONG or (error.status == 429 and not error.retryable)


def is_out_of_reach(error: ToolError) -> bool:
    return error.status is None and error.retryable and not (error.wants_pause or isinstance(error, ToolTimeout))
