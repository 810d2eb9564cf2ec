"""`factloop trust` as a process of its own: killed, interrupted, unread; and what starting it loads."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.cli.processes import Start
from tests.cli.test_processes import JUST_NOW_S, report_in
from tests.simulator import MODEL, Simulator

WITHIN_S = 120.0
"""Generous: it takes some seconds on a free machine."""
HEAVY = (
    "torch", "spacy", "langgraph", "langchain", "langchain_core", "openai", "tantivy", "transformers", "faker", "yaml",
    "tenacity", "factloop.tools.calls.tape", "factloop.correction.records",
)  # fmt: skip


@pytest.fixture
def flags(sim: Simulator, home: Path) -> list[str]:
    """Some answers of the simulated world, with a delay so that there is something to interrupt."""
    sim.set(llm_latency_s=0.03)
    subject = sim.subject
    pairs = [pair for pair in sim.world.questions[:40] if subject.knowledge(pair.topic) == "known"][:6]
    rows = []
    for number, pair in enumerate(pairs):
        response = pair.answer if number % 3 else pair.wrong(random.Random(number))
        rows.append({"question": pair.question, "response": response})
    (home / "qa.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return ["trust", "qa.jsonl", "--subject-model", MODEL, "--quiet"]


def wait_for(sim: Simulator, process: subprocess.Popen[str], n_requests: int) -> None:
    """Looks seldom: the process needs the processor to read its name lists."""
    while sim.stats().model.requests < n_requests:
        assert process.poll() is None, "it ended too early"
        time.sleep(0.02)


@pytest.mark.process
def test_a_killed_and_an_interrupted_run_go_on_to_the_same_report(
    factloop: Command, sim: Simulator, home: Path, flags: list[str], start: Start
) -> None:
    assert factloop(*flags, "--run-dir", "undisturbed", "--set", "cache_dir=c1").code == 0
    n_undisturbed = sim.stats().model.requests
    sim.reset()
    disturbed = (*flags, "--run-dir", "disturbed", "--set", "cache_dir=c2")
    in_flight = 0
    for n_new, blow in ((5, signal.SIGKILL), (20, signal.SIGINT)):
        process = start(*disturbed, "--concurrency", 2)
        wait_for(sim, process, sim.stats().model.requests + n_new)
        process.send_signal(signal.SIGSTOP)  # nothing more is sent while we count
        stats = sim.stats(with_log=True)
        fresh = [entry for entry in stats.log if entry.started_s + entry.took_s > stats.elapsed_s - JUST_NOW_S]
        in_flight += stats.in_flight + len(fresh)
        process.send_signal(blow)
        process.send_signal(signal.SIGCONT)
        _, said = process.communicate(timeout=WITHIN_S)
        if blow is signal.SIGINT:
            assert process.returncode == 130
            assert said == "factloop: stopped. Run the same command again to go on from disturbed.\n"
    assert factloop(*disturbed).code == 0
    assert report_in(home / "disturbed" / "report.json") == report_in(home / "undisturbed" / "report.json")
    assert sim.stats().repeated <= in_flight + 4  # what an interrupted process sends before it hears of it
    assert sim.stats().model.requests <= n_undisturbed + in_flight + 4


def test_a_reader_that_leaves_early_is_no_failure(flags: list[str], start: Start) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as unread:
        processes = [start(*flags, "--dry-run", *json, stdout=unread) for json in ((), ("--json", "-"))]
    for process in processes:
        assert process.communicate(timeout=WITHIN_S)[1] == ""
        assert process.returncode == 0


@pytest.mark.process
@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["trust", "--help"],
        ["research", "distractors", "--help"],
        ["eval", "mixedqa", "--help"],
        ["research", "kb", "--help"],
    ],
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    assert loaded(arguments) == set()


@pytest.mark.process
def test_distractors_are_made_without_what_talks_to_models() -> None:
    unwritten = [
        "research",
        "distractors",
        "--question",
        "Who built it?",
        "--response",
        "He built it.",
        "--n",
        "1",
        "--json",
        "-",
    ]
    assert loaded(unwritten) <= {"faker", "spacy", "torch"}  # thinc imports torch where it is installed


def loaded(arguments: list[str]) -> set[str]:
    """The heavy modules that a command has loaded when it ends."""
    code = (
        f"import sys; sys.argv = ['factloop', *{arguments!r}]\n"
        "from factloop.cli import main\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert ended.code == 0\n"
        f"print('loaded', *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.splitlines()[-1].split()[1:])
