"""Extras of the package that a module of tests needs."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def needs(package: str, extra: str) -> pytest.MarkDecorator:
    """Skips where it is not installed. Imports nothing: each worker collects every module, and some take seconds."""
    return pytest.mark.skipif(find_spec(package) is None, reason=f"the extra `{extra}` is not installed")
