"""Versions of what is installed, each read once: that takes a millisecond, and every report names half a dozen."""

from __future__ import annotations

import importlib.metadata
from functools import cache


@cache
def installed_version(distribution: str) -> str:
    """Raises `importlib.metadata.PackageNotFoundError` where it is not installed."""
    return importlib.metadata.version(distribution)
