"""Flags of the form `NAME=VALUE`."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.errors import ConfigError


def pairs_given(flag: str, given: Sequence[str], what: str) -> dict[str, str]:
    """Name to value, in order. Raises ConfigError for anything but `NAME=VALUE`, and for a name given twice."""
    pairs: dict[str, str] = {}
    for one in given:
        name, mark, value = one.partition("=")
        if not (mark and name.strip() and value.strip()):
            raise ConfigError(f"{flag} {one}: it is {what}")
        if name in pairs:
            raise ConfigError(f"{flag} {one}: {name} has one already")
        pairs[name] = value
    return pairs
