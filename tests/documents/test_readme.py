"""Every command and every Python block of the README runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli.command import Command
from tests.documents.shown import GUIDES, ROOT, Document, run_command, run_in_shell, run_python, serving
from tests.simulator import RunningSimulator

README = Document.read("README.md")
IN_GUIDES = {command for guide in GUIDES.values() for command in guide.commands}
"""`test_guides` runs these."""


LONGEST = 150


def test_a_newcomer_reads_it_in_one_sitting() -> None:
    """Short, and with what a newcomer wants: the demo, the virtual environment, the tests, three commands that run."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    for wanted in ("pip install ", "make demo", "source .venv/bin/activate", "make test"):
        assert f"\n    {wanted}" in text
    assert text.index("pip install ") < text.index("make demo")
    assert sum("examples/" in command for command in (*README.commands, *README.piped)) >= 3
    assert README.python


@pytest.mark.parametrize("command", [command for command in README.commands if command not in IN_GUIDES])
def test_command(
    command: str,
    simulator: RunningSimulator,
    factloop: Command,
    folder_of: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder_of("README.md"))
    assert run_command(command, simulator, factloop)


@pytest.mark.parametrize("command", README.piped)
def test_command_in_a_shell(
    command: str, simulator: RunningSimulator, environment: dict[str, str], folder_of: Callable[[str], Path]
) -> None:
    """Some seconds each, and among the quick tests all the same: the commands of the others run in this process."""
    assert run_in_shell(command, simulator, environment, folder_of("README.md"))


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("code", README.python)
def test_python_block(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_python(code, capsys)


@pytest.mark.process
@pytest.mark.parametrize("command", README.servers)
def test_server(command: str, environment: dict[str, str], folder_of: Callable[[str], Path]) -> None:
    with serving(command, environment, folder_of("README.md")) as address, urlopen(f"{address}/health") as answer:
        assert answer.status == 200
