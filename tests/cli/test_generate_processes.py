"""`factloop research generate longfact` killed, interrupted, and twice at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.simulator import MODEL, Simulator

ROOT = Path(__file__).resolve().parents[2]
WITHIN_S = 60.0


@pytest.fixture
def command(sim: Simulator, home: Path) -> list[str]:
    """Twenty responses, four at a time, so that there is something to interrupt; no cache but the file itself."""
    rows = [{"prompt": response.prompt} for response in sim.world.responses[:20]]
    (home / "asked.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    flags = f"--model {MODEL} --data asked.jsonl --n 20 --out out.jsonl --concurrency 4 --no-cache"
    return ["research", "generate", "longfact", *flags.split()]


@pytest.fixture
def process(command: list[str], sim: Simulator, home: Path) -> Iterator[subprocess.Popen[str]]:
    sim.set(llm_latency_s=0.1)
    started = [sys.executable, "-m", "factloop", *command]
    with subprocess.Popen(
        started, cwd=home, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True
    ) as running:
        yield running
        running.kill()


def wait_for_rows(home: Path, number: int, process: subprocess.Popen[str]) -> None:
    while not (home / "out.jsonl").exists() or (home / "out.jsonl").read_bytes().count(b"\n") < number:
        assert process.poll() is None, "it ended too early"
        time.sleep(0.002)


@pytest.mark.process
def test_a_killed_run_goes_on_in_the_same_file(
    factloop: Command, sim: Simulator, home: Path, command: list[str], process: subprocess.Popen[str]
) -> None:
    wait_for_rows(home, 6, process)
    process.send_signal(signal.SIGSTOP)  # it holds the file, and asks for nothing more
    second = factloop(*command)
    assert (second.code, second.complaint) == (2, "factloop: out.jsonl: another process is at work on this file")
    process.kill()
    process.wait()
    with (home / "out.jsonl").open("ab") as file:
        file.write(b'{"id":"7/openai:sim","sys')  # as a full disk or a power cut leaves it
    n_whole = (home / "out.jsonl").read_bytes().count(b"\n")
    sim.set(llm_latency_s=0.0)
    result = factloop(*command)
    assert (result.code, f"20 prompts of asked.jsonl, {n_whole} of them from before" in result.out) == (0, True)
    rows = [json.loads(line) for line in (home / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted(row["response"] for row in rows) == sorted(one.text for one in sim.world.responses[:20])
    assert sim.stats().model.requests <= 20 + 4  # those in flight are asked twice


@pytest.mark.process
def test_an_interrupted_run_says_how_to_go_on(process: subprocess.Popen[str], home: Path) -> None:
    wait_for_rows(home, 1, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WITHIN_S)
    assert (process.returncode, said) == (
        130,
        "factloop: stopped. Run the same command again to go on from out.jsonl.\n",
    )
