"""`kill -9` in the middle of a run, then the same command: the same report, and hardly anything paid for twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.rows import Row, compared
from benchmarks.safe_runs import Plan
from tests.simulator import MODEL, Response, RunningSimulator, Statistics

FACTLOOP = str(Path(sys.executable).with_name("factloop"))
N_KILLS = 3
POLL_S = 0.02
JUST_NOW_S = 0.1
"""A reply this fresh may not have reached the disk: it counts as in flight."""
VOLATILE = {"created_at", "usage", "retrieved_at"}
"""Fields that hold clock times and costs, and so differ between runs that found the same."""


def resume_rows(simulator: RunningSimulator, plan: Plan, seed: int) -> Iterator[Row]:
    """An undisturbed run, then the same run killed at random moments and started again until it ends."""
    rng, response = random.Random(seed), simulator.world.one_response(43)
    with tempfile.TemporaryDirectory() as folder:
        command = _command(simulator, response, plan, Path(folder))
        simulator.reset()
        undisturbed = _finish(command, Path(folder) / "undisturbed", simulator)
        stats = simulator.stats()
        n_requests, repeated_anyway = _n_requests(stats), stats.repeated
        simulator.reset()
        killed_dir = Path(folder) / "killed"
        kills = [_kill(command, killed_dir, simulator, rng.randint(1, n_requests // N_KILLS)) for _ in range(N_KILLS)]
        resumed = _finish(command, killed_dir, simulator)
        repeated = simulator.stats().repeated - repeated_anyway
    in_flight = [count for count in kills if count is not None]
    group = f"{plan}, killed {len(in_flight)} times"
    is_same = resumed == undisturbed
    yield Row(group, "report", "the same", "the same" if is_same else "another", is_same and bool(in_flight))
    yield compared(group, "paid twice (target: in flight when killed)", repeated, "at most", sum(in_flight), "{:.0f}")


def _command(simulator: RunningSimulator, response: Response, plan: Plan, folder: Path) -> Sequence[str]:
    answer = folder / "answer.md"
    answer.write_text(response.text, encoding="utf-8")
    flags = {
        "--question": response.prompt,
        "--model": MODEL,
        "--base-url": simulator.base_url,
        "--search": "serper",
        "--plan": plan,
    }
    pairs = (item for pair in flags.items() for item in pair)
    return [FACTLOOP, "check", str(answer), *pairs, "--set", f"cache_dir={folder / 'cache'!s}", "--quiet"]


def _start(command: Sequence[str], run_dir: Path, simulator: RunningSimulator) -> subprocess.Popen[bytes]:
    command = [*command, "--run-dir", str(run_dir), "--json", str(run_dir.with_suffix(".json"))]
    return subprocess.Popen(command, env={**os.environ, **simulator.environment})


def _finish(command: Sequence[str], run_dir: Path, simulator: RunningSimulator) -> Any:
    """The report of a run left alone, without what differs in any case. Raises RuntimeError where it fails."""
    with _start(command, run_dir, simulator) as process:
        if process.wait() != 0:
            raise RuntimeError(f"factloop check ended with {process.returncode}")
    return _stable(json.loads(run_dir.with_suffix(".json").read_text(encoding="utf-8")))


def _kill(command: Sequence[str], run_dir: Path, simulator: RunningSimulator, after_requests: int) -> int | None:
    """Kills a run once it has sent so many requests; returns how many were in flight, None if it ended before."""
    goal = _n_requests(simulator.stats()) + after_requests
    with _start(command, run_dir, simulator) as process:
        while _n_requests(simulator.stats()) < goal:
            if process.poll() is not None:
                return None
            time.sleep(POLL_S)
        process.send_signal(signal.SIGSTOP)  # nothing more is sent while we count
        stats = simulator.stats(with_log=True)
        process.kill()
    just_ended = [entry for entry in stats.log if entry.started_s + entry.took_s > stats.elapsed_s - JUST_NOW_S]
    return stats.in_flight + len(just_ended)


def _n_requests(stats: Statistics) -> int:
    return stats.model.requests + stats.search.requests


def _stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _stable(item) for name, item in value.items() if name not in VOLATILE}
    return [_stable(item) for item in value] if isinstance(value, list) else value
