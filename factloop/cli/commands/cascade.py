"""`factloop cascade tune`."""

from __future__ import annotations

from factloop.errors import ConfigError


def tune() -> None:
    """Tune the thresholds of a cascade on labelled claims."""
    raise ConfigError("factloop cascade tune is not built yet")
