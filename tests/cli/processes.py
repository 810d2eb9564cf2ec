from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.simulator import Simulator, Statistics

ROOT = Path(__file__).resolve().parents[2]
WITHIN_S = 90.0

Start = Callable[..., "subprocess.Popen[str]"]


@contextmanager
def processes_in(folder: Path, **environment: str) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "factloop", *map(str, arguments)]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "FACTLOOP_LOG_LEVEL": "warning", **environment},
            text=True,
            **{"stderr": subprocess.PIPE, **options},
        )
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.communicate()


def address_of(service: subprocess.Popen[str]) -> str:
    assert service.stderr is not None
    line = service.stderr.readline()
    assert "serving at" in line, line + service.stderr.read()
    return line.split()[3]


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not condition():
        assert process.poll() is None, "it ended too early"
        time.sleep(0.002)


def wait_for_requests(sim: Simulator, process: subprocess.Popen[str], number: int) -> None:
    wait_until(lambda: n_requests(sim.stats()) >= number, process)


def n_requests(stats: Statistics) -> int:
    return stats.model.requests + stats.search.requests
