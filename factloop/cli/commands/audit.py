"""`factloop audit`."""

from __future__ import annotations


def audit() -> None:
    """To come."""
    raise NotImplementedError
