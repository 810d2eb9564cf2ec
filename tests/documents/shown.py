"""What a document shows its reader to run."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.simulator import RunningSimulator

ROOT = Path(__file__).parents[2]
LOCAL_SERVER = "http://localhost:8000/v1"


@dataclass(frozen=True)
class Document:
    """Commands are indented lines that begin with `factloop`; Python stands in fenced blocks."""

    commands: tuple[str, ...]
    python: tuple[str, ...]

    @classmethod
    def read(cls, name: str) -> Document:
        text = (ROOT / name).read_text(encoding="utf-8")
        lines = re.findall(r"^    (.+)$", text, re.MULTILINE)
        return cls(
            tuple(line.split("  #")[0].strip() for line in lines if re.match(r"(cat .*\| *)?factloop ", line)),
            tuple(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)),
        )


def run_command(command: str, simulator: RunningSimulator, environment: dict[str, str], folder: Path) -> None:
    """As a reader types it, with the simulator in place of a server of their own."""
    shown = command.replace(LOCAL_SERVER, simulator.base_url)
    done = subprocess.run(shown, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "Traceback" not in done.stderr


def run_python(code: str, environment: dict[str, str]) -> None:
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout
