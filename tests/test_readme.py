"""Every command and every Python block of the README and of docs/ runs, with the simulator in place of paid servers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulator import RunningSimulator, Simulator

ROOT = Path(__file__).parents[1]
PAGES = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/evaluation.md")]
LOCAL_SERVER = "http://localhost:8000/v1"

COMMANDS = [
    line.split("  #")[0].strip()
    for page in PAGES
    for line in re.findall(r"^    (.+)$", page, re.MULTILINE)
    if re.match(r"(cat .*\| *)?factloop ", line)
]
PYTHON = [block for page in PAGES for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)]


@pytest.fixture(scope="module")
def simulator() -> Iterator[RunningSimulator]:
    with Simulator(models=("gpt-4o-mini", "gpt-4o", "qwen3")) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader tries the commands, one after the other: a later one may use what an earlier one wrote."""
    folder = tmp_path_factory.mktemp("readme")
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


def test_the_readme_shows_commands_and_code() -> None:
    assert len(COMMANDS) >= 6
    assert len(PYTHON) >= 2


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command: str, simulator: RunningSimulator, environment: dict[str, str], folder: Path) -> None:
    shown = command.replace(LOCAL_SERVER, simulator.base_url)
    done = subprocess.run(shown, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("code", PYTHON)
def test_python_block(code: str, environment: dict[str, str]) -> None:
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout
