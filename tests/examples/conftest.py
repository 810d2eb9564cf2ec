from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.programs import Run, build_run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return build_run(tmp_path, monkeypatch, capsys)
