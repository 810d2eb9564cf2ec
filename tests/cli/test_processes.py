"""The command as a process of its own: killed, interrupted, unread, and twice at once."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.cli.processes import ROOT, WITHIN_S, Start, n_requests, wait_for_requests, wait_until
from tests.simulator import MODEL, Faults, Simulator

"""Generous: it takes a few tenths of a second on a free machine."""
JUST_NOW_S = 0.1
"""An answer this fresh may not have reached the journal: it counts as in flight."""
VOLATILE = {"usage", "created_at", "retrieved_at"}


@pytest.fixture
def flags(sim: Simulator, home: Path) -> list[str]:
    """A check of a response of the simulated world, with delays so that there is something to interrupt."""
    sim.set(llm_latency_s=0.03, search_latency_s=0.01)
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    (home / "long.md").write_text(response.text, encoding="utf-8")
    return ["check", "long.md", "--prompt", response.prompt, "--model", MODEL, "--search", "serper", "--quiet"]


def stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: stable(item) for name, item in value.items() if name not in VOLATILE}
    return [stable(item) for item in value] if isinstance(value, list) else value


def report_in(path: Path) -> Any:
    return stable(json.loads(path.read_text(encoding="utf-8")))


def test_a_killed_run_goes_on_to_the_same_report(
    factloop: Command, sim: Simulator, home: Path, flags: list[str], start: Start
) -> None:
    assert factloop(*flags, "--run-dir", "undisturbed", "--set", "cache_dir=c1").code == 0
    n_undisturbed = n_requests(sim.stats())
    sim.reset()
    in_flight = 0
    for n_new in (3, 15):
        process = start(*flags, "--run-dir", "killed", "--set", "cache_dir=c2", "--concurrency", 4)
        wait_for_requests(sim, process, n_requests(sim.stats()) + n_new)
        process.send_signal(signal.SIGSTOP)  # nothing more is sent while we count
        stats = sim.stats(with_log=True)
        process.kill()
        process.wait()
        fresh = [entry for entry in stats.log if entry.started_s + entry.took_s > stats.elapsed_s - JUST_NOW_S]
        in_flight += stats.in_flight + len(fresh)
    assert factloop(*flags, "--run-dir", "killed", "--set", "cache_dir=c2").code == 0
    assert report_in(home / "killed" / "report.json") == report_in(home / "undisturbed" / "report.json")
    assert sim.stats().repeated <= in_flight
    assert n_requests(sim.stats()) <= n_undisturbed + in_flight


def test_a_run_at_work_is_left_alone_and_an_interrupted_one_says_how_to_go_on(
    factloop: Command, sim: Simulator, home: Path, flags: list[str], start: Start
) -> None:
    sim.set(llm_latency_s=5.0)
    process = start(*flags, "--run-dir", "run")
    wait_for_requests(sim, process, 1)
    second = factloop(*flags, "--run-dir", "run")
    assert (second.code, second.complaint) == (2, "factloop: run: another process is at work on this run")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert said == "factloop: stopped. Run the same command again to go on from run.\n"
    sim.set(llm_latency_s=0.0)
    assert factloop(*flags, "--run-dir", "run").code == 0
    assert report_in(home / "run" / "report.json")["counts"]["unscored"] == 0


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ends it, long before its own time-outs would."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert said.startswith("factloop: stopped.")


INTERRUPTED_WHILE_IMPORTING = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == WHAT:
            os.kill(os.getpid(), signal.SIGINT)

WHAT = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupt())
from factloop.cli import main
main()
"""


@pytest.mark.parametrize("module", ["factloop.cli.app", "factloop.cli.check", "factloop.checking.checker"])
def test_an_interrupt_while_modules_are_imported_is_said_in_a_line(home: Path, module: str) -> None:
    (home / "a.md").write_text("Rome is in Italy.", encoding="utf-8")
    command = [sys.executable, "-c", INTERRUPTED_WHILE_IMPORTING, module, "check", "a.md"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    (said,) = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout, said.startswith("factloop: stopped.")) == (130, "", True)


INTERRUPTED_BEFORE_A_TASK_BEGAN = """
import asyncio, os, signal
from factloop.cli.console import run_until_stopped

async def inner():
    pass

async def outer(inner):
    await inner

async def work():
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(60)
    finally:
        task = asyncio.create_task(outer(inner()))
        task.cancel()
        await asyncio.wait([task])

run_until_stopped(work(), run_dir=None, kept=True)
"""


def test_an_interrupt_says_nothing_of_work_that_had_not_begun(home: Path) -> None:
    """As LangGraph's tasks are at times: each is given a coroutine, and cancelled before it first runs."""
    command = [sys.executable, "-c", INTERRUPTED_BEFORE_A_TASK_BEGAN]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    said = "factloop: stopped. Answers so far are in the cache: the same command pays only for the rest.\n"
    assert (ended.returncode, ended.stderr) == (130, said)


@pytest.mark.process
def test_a_check_at_its_deadline_does_not_wait_for_a_search_that_hangs(
    sim: Simulator, home: Path, flags: list[str], start: Start
) -> None:
    sim.set(stage_faults={"search": Faults(hang=1.0)})
    process = start(
        *flags, "--timeout", 10 * WITHIN_S, "--deadline", 6.0, "--json", "report.json", "--fail-if-unscored"
    )
    _, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 3
    assert "no claim could be scored: the check ran into its deadline of 6 s" in said
    assert json.loads((home / "report.json").read_text())["counts"]["unscored"] > 0
    assert sim.stats().search.requests > 0


@pytest.mark.process
def test_an_interrupted_run_does_not_wait_for_a_search_that_hangs(
    sim: Simulator, flags: list[str], start: Start
) -> None:
    sim.set(stage_faults={"search": Faults(hang=1.0)})
    process = start(*flags, "--timeout", 10 * WITHIN_S)
    wait_until(lambda: sim.stats().search.requests > 0, process)
    interrupt(process)
    assert process.returncode == 130


@pytest.mark.process
def test_an_interrupted_run_does_not_wait_for_a_server_that_is_yet_to_be_reached(
    sim: Simulator, flags: list[str], start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("FACTLOOP_SERPER_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        process = start(*flags, "--timeout", 10 * WITHIN_S)
        silent.settimeout(WITHIN_S)
        connection, _ = silent.accept()
        with connection:
            interrupt(process)
    assert sim.stats().model.requests == 0


def test_a_reader_that_leaves_early_is_no_failure(answer: Path, docs: Path, start: Start) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as unread:
        by_json = start("check", answer, "--docs", docs, "--json", "-", stdout=unread)
        by_terminal = start("check", answer, "--docs", docs, stdout=unread)
    for process in (by_json, by_terminal):
        assert process.communicate(timeout=WITHIN_S)[1] == ""
        assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_named_in_one_line(answer: Path, docs: Path, start: Start) -> None:
    with Path("/dev/full").open("w") as full:
        process = start("check", answer, "--docs", docs, "--json", "-", stdout=full)
    said = process.communicate(timeout=WITHIN_S)[1]
    assert said == "factloop: cannot write to standard output: No space left on device\n"
    assert process.returncode == 2
