"""Assertions on what a model wrote, for tests: `assert_factual` and `assert_trustworthy`.

Names are loaded on first use: the pytest plugin is loaded at every start of pytest, and must cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factloop.setup.recording import Recording
    from factloop.testing.assertions import (
        NotFactual,
        NotTrustworthy,
        aassert_factual,
        aassert_trustworthy,
        assert_factual,
        assert_trustworthy,
    )

__all__ = [
    "NotFactual",
    "NotTrustworthy",
    "Recording",
    "aassert_factual",
    "aassert_trustworthy",
    "assert_factual",
    "assert_trustworthy",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'factloop.testing' has no attribute {name!r}")
    home = "factloop.setup.recording" if name == "Recording" else "factloop.testing.assertions"
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
