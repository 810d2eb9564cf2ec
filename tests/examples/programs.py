"""Runs a program among the examples as a reader does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.simulator import MODEL, Simulator

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(program: str, *arguments: object, folder: Path, sim: Simulator | None = None) -> list[str]:
    """What the program prints, started from a folder of the test's own; judged by the simulator where there is one."""
    environment = {**os.environ, "FACTLOOP_CACHE_DIR": str(folder / "cache")}
    if sim is not None:
        environment |= {**sim.environment, "OPENAI_BASE_URL": sim.base_url, "MODEL": MODEL}
    command = [sys.executable, "-W", "error", str(EXAMPLES / program), *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout.splitlines()
