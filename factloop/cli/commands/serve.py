"""`factloop serve`."""

from __future__ import annotations

from factloop.errors import ConfigError


def serve() -> None:
    """Serve checks over HTTP, with a page to look at them."""
    raise ConfigError("factloop serve is not built yet")
