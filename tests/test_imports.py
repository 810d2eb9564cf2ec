from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import factloop

HEAVY = ("torch", "spacy", "langgraph", "langchain", "langchain_core", "openai", "tantivy", "transformers")
ROOT = Path(factloop.__file__).parent
LAZY = [
    ".".join(("factloop", *path.parent.relative_to(ROOT).parts))
    for path in ROOT.rglob("__init__.py")
    if "def __getattr__" in path.read_text(encoding="utf-8")
]
"""Packages whose names are loaded on first use."""


@pytest.mark.parametrize("module", ["factloop", "factloop.cli", "factloop.core.records"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.process
def test_a_check_with_the_offline_engine_loads_no_local_model() -> None:
    """Torch itself is loaded if it is installed, by spaCy's thinc."""
    code = (
        "import sys, factloop; factloop.FactChecker(cache=False).check('Rome is in Italy.');"
        "print([name for name in ('transformers', 'sklearn', 'sentence_transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    assert {"factloop", "factloop.testing"} <= {*LAZY}
    for module in map(import_module, LAZY):
        for name in module.__all__:
            assert getattr(module, name).__name__ == name
        assert set(module.__all__) <= set(dir(module))
        assert {*module._HOME} == {*module.__all__}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Checker'"):
        factloop.Checker  # noqa: B018 - asking is the test
