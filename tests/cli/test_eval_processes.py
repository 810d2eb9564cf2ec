"""A run over a data set as a process of its own: killed, interrupted, and twice at once."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.cli.processes import WITHIN_S, Start, n_requests, wait_for_requests
from tests.evaluation.running.short_responses import short_items, write_items
from tests.simulator import MODEL, Simulator

JUST_NOW_S = 0.1
"""An answer this fresh may not have reached the journal: it counts as in flight."""
N_RESPONSES = 24
VOLATILE = ("usage", "created_at")


@pytest.fixture
def flags(sim: Simulator, home: Path) -> list[object]:
    sim.set(llm_latency_s=0.03, search_latency_s=0.01)
    data = write_items(home / "responses.jsonl", short_items(sim.world, N_RESPONSES))
    return [data, "--model", MODEL, "--search", "serper", "--k", 2, "--k", "median", "--resamples", 50, "--quiet"]


def summary_in(folder: Path) -> Any:
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return {name: value for name, value in summary.items() if name not in VOLATILE}


def test_a_killed_run_goes_on_to_the_same_summary(
    factloop: Command, sim: Simulator, home: Path, flags: list[object], start: Start
) -> None:
    assert factloop("eval", *flags, "--run-dir", "undisturbed").code == 0
    n_undisturbed, repeated_anyway = n_requests(sim.stats()), sim.stats().repeated
    sim.reset()
    in_flight = 0
    for n_new in (3, n_undisturbed // 2):
        process = start("eval", *flags, "--run-dir", "killed", "--concurrency", 6)
        wait_for_requests(sim, process, n_requests(sim.stats()) + n_new)
        process.send_signal(signal.SIGSTOP)  # nothing more is sent while we count
        stats = sim.stats(with_log=True)
        process.kill()
        process.wait()
        fresh = [entry for entry in stats.log if entry.started_s + entry.took_s > stats.elapsed_s - JUST_NOW_S]
        in_flight += stats.in_flight + len(fresh)
    lines = (home / "killed" / "reports.jsonl").read_bytes()
    assert 0 < lines.count(b"\n") < N_RESPONSES  # some were judged before the last kill, and are not judged again
    (home / "killed" / "reports.jsonl").write_bytes(lines + lines[:100])  # as if killed in the middle of a line
    assert not (home / "killed" / "summary.json").exists()
    assert factloop("eval", *flags, "--run-dir", "killed").code == 0
    assert summary_in(home / "killed") == summary_in(home / "undisturbed")
    assert sim.stats().repeated <= in_flight + repeated_anyway
    assert n_requests(sim.stats()) <= n_undisturbed + in_flight


def test_a_run_at_work_is_left_alone_and_an_interrupted_one_says_how_to_go_on(
    factloop: Command, sim: Simulator, home: Path, flags: list[object], start: Start
) -> None:
    sim.set(llm_latency_s=5.0)
    process = start("eval", *flags, "--run-dir", "run")
    wait_for_requests(sim, process, 1)
    second = factloop("eval", *flags, "--run-dir", "run")
    assert (second.code, second.complaint) == (2, "factloop: run: another process is at work on this run")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert said == "factloop: stopped. Run the same command again to go on from run.\n"
    sim.set(llm_latency_s=0.0)
    assert factloop("eval", *flags, "--run-dir", "run").code == 0
    assert len(summary_in(home / "run")["responses"]) == N_RESPONSES
