"""`factloop eval factscore`."""

from __future__ import annotations


def factscore() -> None:
    """To come."""
    raise NotImplementedError
