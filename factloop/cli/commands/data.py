"""`factloop data`."""

from __future__ import annotations


def list_() -> None:
    """To come."""
    raise NotImplementedError


def get() -> None:
    """To come."""
    raise NotImplementedError
