"""Assertions about model output: `assert_factual` and `assert_trustworthy`.

They are imported on first use, because pytest loads the plugin at every start.
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
_HOME = {**dict.fromkeys(__all__, "testing.assertions"), "Recording": "setup.recording"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'factloop.testing' has no attribute {name!r}")
    return getattr(import_module(f"factloop.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
