from __future__ import annotations

import http.client
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.simulator import RunningSimulator

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOCAL_SERVER = "http://localhost:8000/v1"
STARTED_WITHIN_S = 60.0
STOPPED = (0, 130)  # exit codes of a server that was interrupted
_COMMAND = re.compile(r"([A-Z_]+=\S+ )*(cat .*\| *)?factloop |pytest examples/|cat \S+\.tex$")
_SERVER = re.compile(r"factloop (serve|mcp)\b")
_ENDS = "# ends with "
_PRINTED = re.compile(
    r"^    ((?:factloop|pytest|cat) [^\n]+)(?:\n\n[^\n]+)?\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_PYTHON = re.compile(r"^```python\n(.*?)^```$(?:(?:\n\n[^\n]+)?\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
_NEEDS_A_SHELL = re.compile(r"[A-Z_]+=|cat |pytest ")


def _without_remark(line: str) -> str:
    """Drops the remark after a command, unless it states an exit code."""
    command, mark, _ = line.partition("  #")
    return line if _ENDS in line else command.strip() if mark else line


@dataclass(frozen=True)
class Document:
    """Commands are indented lines that begin with `factloop`; Python stands in fenced blocks."""

    commands: tuple[str, ...]
    piped: tuple[str, ...]
    """Commands that read from a pipe or set variables: they need a shell."""
    servers: tuple[str, ...]
    """Commands that go on until they are stopped."""
    printed: dict[str, str]
    """The text in the block after a command: a part of what it prints."""
    python: tuple[tuple[str, str], ...]
    """Each block, and the text in the block after it: what it prints, or a part of that."""

    @classmethod
    def read(cls, name: str) -> Document:
        text = (ROOT / name).read_text(encoding="utf-8")
        lines = [line.strip() for line in re.findall(r"^    (.+)$", text, re.MULTILINE)]
        commands = [_without_remark(line) for line in lines if _COMMAND.match(line)]
        ending = [command for command in commands if not _SERVER.search(command)]
        return cls(
            tuple(command for command in ending if not _NEEDS_A_SHELL.match(command)),
            tuple(command for command in ending if _NEEDS_A_SHELL.match(command)),
            tuple(command for command in commands if _SERVER.search(command)),
            {_without_remark(command): output for command, output in _PRINTED.findall(text)},
            tuple(_PYTHON.findall(text)),
        )


NO_GUIDES = {
    *("architecture.md", "comparison.md", "extending.md", "glossary.md", "index.md"),
    *("labels.md", "search.md", "troubleshooting.md"),
}
"""They show a reader nothing to run; `test_extending` applies the recipes."""
GENERATED = {"commands.md", "settings.md"}  # written by `.ci/pages.py`
NAVIGATION = re.findall(r"([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
GUIDES = {name: Document.read(f"docs/{name}") for name in NAVIGATION if name not in NO_GUIDES | GENERATED}
"""In the order in which a reader comes to them, as commands of a later page may use files of an earlier one."""


def run_command(command: str, simulator: RunningSimulator, factloop: Command) -> str:
    """Runs a command in this process, with the simulator in place of a server, and returns its output."""
    typed, _, code = command.partition(_ENDS)
    name, *arguments = shlex.split(typed.replace(LOCAL_SERVER, simulator.base_url))
    assert name == "factloop"
    result = factloop(*arguments)
    assert result.code == int(code or 0), result.err
    return result.out


def run_in_shell(command: str, simulator: RunningSimulator, environment: dict[str, str], folder: Path) -> str:
    """Runs commands in a shell, with the simulator in place of a server, and returns their output."""
    typed, _, code = command.replace(LOCAL_SERVER, simulator.base_url).partition(_ENDS)
    done = subprocess.run(typed, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == int(code or 0), done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def run_python(code: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Runs a program as `__main__` in this process; returns its output and the messages of its failing tests."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, "<document>", "exec", dont_inherit=True), names)  # noqa: S102 -- our own documents
    for name in [name for name in names if name.startswith("test_")]:
        with pytest.raises(AssertionError) as failure:
            names[name]()
        sys.stdout.write(f"{failure.value}\n")
    return capsys.readouterr().out


@contextmanager
def serving(command: str, environment: dict[str, str], folder: Path) -> Iterator[str]:
    """Serves at a free port instead of the one shown, yields the address, and interrupts the command at the end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = shlex.split(command)
    words[words.index("--port") + 1] = str(port)
    process = subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        _await_answer(port, process)
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode in STOPPED, said
        assert "Traceback" not in said
    finally:
        process.kill()
        process.communicate()


def _await_answer(port: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + STARTED_WITHIN_S
    while True:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, "nothing answers"
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5.0)
        try:
            connection.request("GET", "/health")
            connection.getresponse()
        except OSError:
            time.sleep(0.1)
        else:
            return
        finally:
            connection.close()
