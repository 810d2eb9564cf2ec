"""`factloop eval responses`."""

from __future__ import annotations


def responses() -> None:
    """To come."""
    raise NotImplementedError
