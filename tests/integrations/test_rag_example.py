"""`examples/rag` runs, and its guard finds the mistake."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "rag" / "guarded.py"


def test_the_guard_of_the_example_finds_the_wrong_year(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLE)]
    environment = {**os.environ, "FACTLOOP_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("supported: John Smeaton built the third Eddystone tower. [")
    assert second.startswith("not_supported: ")
    assert "1795" in second
