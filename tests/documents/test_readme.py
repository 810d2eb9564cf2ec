"""Every command and every Python block of the README runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documents.shown import Document, run_command, run_python, serving
from tests.simulator import RunningSimulator

README = Document.read("README.md")


def test_there_are_commands_and_code() -> None:
    assert len(README.commands) >= 6
    assert len(README.python) >= 2


@pytest.mark.parametrize("command", README.commands)
def test_command(
    command: str, simulator: RunningSimulator, environment: dict[str, str], folder_of: Callable[[str], Path]
) -> None:
    run_command(command, simulator, environment, folder_of("README.md"))


@pytest.mark.parametrize("code", README.python)
def test_python_block(code: str, environment: dict[str, str]) -> None:
    run_python(code, environment)


@pytest.mark.parametrize("command", README.servers)
def test_server(command: str, environment: dict[str, str], folder_of: Callable[[str], Path]) -> None:
    with serving(command, environment, folder_of("README.md")):
        pass
