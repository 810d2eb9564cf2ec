"""Kills `factloop eval` over 200 responses and starts it again, and weighs it: `python -m benchmarks.eval_run`.

The far side is `tests/simulator` with its default delays; memory is measured without. Ends with 1 where a target is
missed.
"""

from __future__ import annotations

import argparse
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

from rich.console import Console

from benchmarks.rows import Row, compared, table
from tests.evaluation.running.short_responses import short_items, write_items
from tests.simulator import INSTANT, MODEL, RunningSimulator, Statistics, World, load_world, spawn

FACTLOOP = str(Path(sys.executable).with_name("factloop"))
N_RESPONSES = 200
TIMES_AS_MANY = 10
N_KILLS = 3
POLL_S = 0.02
JUST_NOW_S = 0.1
"""A reply this fresh may not have reached the disk: it counts as in flight."""
MOST_KB_A_RESPONSE = 5.0
"""Kilobytes of memory a response: counts, ids and the lines of the summary. A report has some 50 kB."""
SECTIONS = ("resume", "memory")


def resume_rows(simulator: RunningSimulator, seed: int) -> Iterator[Row]:
    """An undisturbed run, then the same killed at random moments and started again until it ends."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = _with_model(simulator, _data(simulator.world, folder, N_RESPONSES), folder)
        simulator.reset()
        started = time.perf_counter()
        undisturbed = _finish([*command, "--run-dir", str(folder / "undisturbed")], simulator)
        wall_s = time.perf_counter() - started
        stats = simulator.stats()
        n_requests, repeated_anyway = _n_requests(stats), stats.repeated
        simulator.reset()
        command = [*command, "--run-dir", str(folder / "killed")]
        kills = [_kill(command, simulator, rng.randint(1, n_requests // N_KILLS)) for _ in range(N_KILLS)]
        resumed = _finish(command, simulator)
        repeated = simulator.stats().repeated - repeated_anyway
    in_flight = [count for count in kills if count is not None]
    group = f"{N_RESPONSES} responses, killed {len(in_flight)} times"
    yield Row(group, "undisturbed", "", f"{wall_s:.0f} s, {n_requests:,} requests", None)
    is_same = resumed == undisturbed
    yield Row(group, "summary", "the same", "the same" if is_same else "another", is_same and bool(in_flight))
    yield compared(group, "paid twice (target: in flight when killed)", repeated, "at most", sum(in_flight), "{:.0f}")


def memory_rows(simulator: RunningSimulator) -> Iterator[Row]:
    """The most that a run holds, at one number of responses and at ten times as many."""
    simulator.set(**vars(INSTANT))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        docs = _documents(simulator.world, folder)
        n_few, n_many = N_RESPONSES, N_RESPONSES * TIMES_AS_MANY
        for engine in ("offline engine", "model"):
            peaks = []
            for n in (n_few, n_many):
                data = _data(simulator.world, folder, n)
                offline = [
                    FACTLOOP,
                    "eval",
                    str(data),
                    "--docs",
                    str(docs),
                    "--quiet",
                    "--set",
                    f"cache_dir={folder!s}",
                ]
                command = offline if engine == "offline engine" else _with_model(simulator, data, folder)
                peaks.append(_peak_mb([*command, "--run-dir", str(folder / f"{engine}-{n}")], simulator))
            few, many = peaks
            group = f"memory, {engine}"
            yield Row(
                group, f"{n_few:,} responses, then {n_few * TIMES_AS_MANY:,}", "", f"{few:.0f}, {many:.0f} MB", None
            )
            each_kb = max(0.0, many - few) * 1024 / (n_few * (TIMES_AS_MANY - 1))
            yield compared(group, "for each more", each_kb, "at most", MOST_KB_A_RESPONSE, "{:.1f} kB")


def _data(world: World, folder: Path, n: int) -> Path:
    return write_items(folder / f"{n}.jsonl", short_items(world, n))


def _documents(world: World, folder: Path) -> Path:
    docs = folder / "docs"
    docs.mkdir()
    texts = dict.fromkeys(fact.gold.page for response in world.responses for fact in response.facts)
    (docs / "all.txt").write_text("\n\n".join(texts), encoding="utf-8")
    return docs


def _with_model(simulator: RunningSimulator, data: Path, folder: Path) -> list[str]:
    command = [FACTLOOP, "eval", str(data), "--model", MODEL, "--base-url", simulator.base_url, "--search", "serper"]
    return [*command, "--k", "2", "--k", "median", "--set", f"cache_dir={folder / 'cache'!s}", "--quiet"]


def _start(command: Sequence[str], simulator: RunningSimulator) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, env={**os.environ, **simulator.environment})


def _finish(command: Sequence[str], simulator: RunningSimulator) -> Any:
    """The summary of a run left alone, without what differs in any case. Raises RuntimeError where it fails."""
    with _start(command, simulator) as process:
        if process.wait() != 0:
            raise RuntimeError(f"factloop eval ended with {process.returncode}")
    summary = json.loads((Path(command[-1]) / "summary.json").read_text(encoding="utf-8"))
    return {name: value for name, value in summary.items() if name not in ("usage", "created_at")}


def _kill(command: Sequence[str], simulator: RunningSimulator, after_requests: int) -> int | None:
    """Kills a run once it has sent so many requests; returns how many were in flight, None if it ended before."""
    goal = _n_requests(simulator.stats()) + after_requests
    with _start(command, simulator) as process:
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


def _peak_mb(command: Sequence[str], simulator: RunningSimulator) -> float:
    process = _start(command, simulator)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise RuntimeError(f"factloop eval ended with {process.returncode}")
    return usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SECTIONS, action="append")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    load_world()
    rows: list[Row] = []
    with spawn() as simulator:
        for section in asked.only or SECTIONS:
            rows += resume_rows(simulator, asked.seed) if section == "resume" else memory_rows(simulator)
    Console().print(table("factloop eval", rows))
    return 1 if any(row.is_met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
