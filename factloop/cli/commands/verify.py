"""`factloop verify`."""

from __future__ import annotations


def verify() -> None:
    """To come."""
    raise NotImplementedError
