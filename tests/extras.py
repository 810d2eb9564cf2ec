from __future__ import annotations

from importlib.util import find_spec

import pytest


def needs(package: str, extra: str) -> pytest.MarkDecorator:
    """Skips if the package is missing. Imports nothing, because each worker would, and some imports take seconds."""
    return pytest.mark.skipif(find_spec(package) is None, reason=f"the extra `{extra}` is not installed")
