from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.tools.fake_server import no_collection_in_deep_recursion as no_collection_in_deep_recursion
from tests.tools.fake_server import server as server


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SERPER_API_KEY", "FACTLOOP_SERPER_URL", "FACTLOOP_SEARXNG_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of three files that are an hour old."""
    folder = tmp_path / "docs"
    folder.mkdir()
    long_ago = time.time() - 3600
    for name in ("ada", "curie", "turing"):
        (folder / f"{name}.txt").write_text(f"Something about {name} and nothing else.")
        os.utime(folder / f"{name}.txt", (long_ago, long_ago))
    return folder
