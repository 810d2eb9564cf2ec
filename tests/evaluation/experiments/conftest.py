from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.simulator import Simulator


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.startswith(("FACTLOOP_", "OPENAI_", "SERPER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sim(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    monkeypatch.setenv("OPENAI_BASE_URL", sim.base_url)
    return sim
