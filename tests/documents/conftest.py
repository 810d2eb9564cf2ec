from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents.shown import ROOT
from tests.simulator import RunningSimulator, Simulator


@pytest.fixture(scope="module")
def simulator() -> Iterator[RunningSimulator]:
    with Simulator(models=("gpt-4o-mini", "gpt-4o", "qwen3")) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader tries the commands, one after the other: a later one may use what an earlier one wrote."""
    folder = tmp_path_factory.mktemp("reader")
    for example in ("lighthouse", "trust", "evaluation"):
        shutil.copytree(ROOT / "examples" / example, folder, dirs_exist_ok=True)
    (folder / "downloads").mkdir()
    shutil.copy(folder / "prompts.jsonl", folder / "downloads" / "longfact_objects.jsonl")
    return folder


@pytest.fixture
def environment(simulator: RunningSimulator, folder: Path, tmp_path: Path) -> dict[str, str]:
    """A user's shell: factloop on the path, keys set, answers kept in a folder of the test's own."""
    return {
        **os.environ,
        **simulator.environment,
        "OPENAI_BASE_URL": simulator.base_url,
        "FACTLOOP_CACHE_DIR": str(tmp_path / "cache"),
        "FACTLOOP_DATA_DIR": str(folder / "data"),
        "FACTLOOP_PRICE_IN": "0.15",
        "FACTLOOP_PRICE_OUT": "0.60",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
