"""`factloop experiment`."""

from __future__ import annotations

from factloop.errors import ConfigError


def experiment() -> None:
    """Compare prompts, models and settings over the same labelled claims."""
    raise ConfigError("factloop experiment is not built yet")
