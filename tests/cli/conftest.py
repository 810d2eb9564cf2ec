from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Command, build_command
from tests.cli.processes import Start, processes_in
from tests.simulator import Simulator


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.startswith(("FACTLOOP_", "OPENAI_", "SERPER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def sim(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """A simulator that commands also find. Depends on `home`, which clears the environment."""
    monkeypatch.setenv("OPENAI_BASE_URL", sim.base_url)
    return sim


@pytest.fixture
def factloop(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return build_command(monkeypatch, capsys)


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    with processes_in(home) as start:
        yield start


@pytest.fixture
def answer(home: Path) -> Path:
    path = home / "answer.md"
    path.write_text("Ada Lovelace was born in London. Ada Lovelace died in London in 1872.\n", encoding="utf-8")
    return path


@pytest.fixture
def docs(home: Path) -> Path:
    folder = home / "docs"
    folder.mkdir()
    (folder / "ada.txt").write_text(
        "Ada Lovelace was born in London on 10 December 1815. Ada Lovelace died in London in 1852.\n", encoding="utf-8"
    )
    return folder
