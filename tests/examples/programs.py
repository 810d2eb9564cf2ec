"""Runs a program among the examples as a reader does, but in this process."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulator import MODEL, Simulator

EXAMPLES = Path(__file__).parents[2] / "examples"

Run = Callable[..., list[str]]


def build_run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs programs in that folder; the simulator judges where there is one."""

    def run(program: str, *arguments: object, sim: Simulator | None = None) -> list[str]:
        """Runs the program, and returns what it prints."""
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.setenv("FACTLOOP_CACHE_DIR", str(folder / "cache"))
            if sim is not None:
                for name, value in {**sim.environment, "OPENAI_BASE_URL": sim.base_url, "MODEL": MODEL}.items():
                    patch.setenv(name, value)
            patch.setattr(sys, "argv", [program, *map(str, arguments)])
            patch.setattr(sys, "path", [str((EXAMPLES / program).parent), *sys.path])
            runpy.run_path(str(EXAMPLES / program), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return run
