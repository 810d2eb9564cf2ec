"""`factloop mcp`."""

from __future__ import annotations

from factloop.errors import ConfigError


def mcp() -> None:
    """Serve checks to agents over the Model Context Protocol."""
    raise ConfigError("factloop mcp is not built yet")
