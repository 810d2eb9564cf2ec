"""`factloop generate`."""

from __future__ import annotations


def longfact() -> None:
    """To come."""
    raise NotImplementedError


def prompts() -> None:
    """To come."""
    raise NotImplementedError
