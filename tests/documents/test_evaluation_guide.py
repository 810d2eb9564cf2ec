"""Every command of docs/evaluation.md runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.shown import Document, run_command
from tests.simulator import RunningSimulator

GUIDE = Document.read("docs/evaluation.md")


def test_there_are_commands() -> None:
    assert len(GUIDE.commands) >= 6


@pytest.mark.parametrize("command", GUIDE.commands)
def test_command(command: str, simulator: RunningSimulator, environment: dict[str, str], folder: Path) -> None:
    run_command(command, simulator, environment, folder)
