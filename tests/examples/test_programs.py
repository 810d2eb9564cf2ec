"""Every program among the examples runs: by itself offline, and against the simulator as a model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.programs import EXAMPLES, Run
from tests.simulator import MODEL, Simulator

ANSWERS = EXAMPLES / "evaluation" / "responses.jsonl"


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


def test_the_graph_writes_anew_what_did_not_hold(run: Run) -> None:
    lines = run("langgraph/rewriting.py")
    assert [line.split(": ")[:2] for line in lines[:4]] == [
        ["draft 1", "supported"],
        ["draft 1", "not_supported"],
        ["draft 2", "supported"],
        ["draft 2", "supported"],
    ]
    assert lines[-1].endswith("until 1877.")


def test_the_graph_runs_with_a_model(run: Run, sim: Simulator) -> None:
    assert run("langgraph/rewriting.py", sim=sim)[-1].startswith("Smeaton's Tower")


def test_a_batch_reports_each_answer_and_goes_on_where_it_was(run: Run, tmp_path: Path) -> None:
    lines = run("batch/batch.py", ANSWERS, "reports")
    assert "shy-towers: 1 of 1 supported, 0 unscored" in lines
    assert [line.split(":")[0] for line in lines[-3:]] == ["careful", "hasty", "shy"]
    assert len((tmp_path / "reports" / "reports.jsonl").read_text(encoding="utf-8").splitlines()) == 9
    assert run("batch/batch.py", ANSWERS, "reports") == lines[-3:], "nothing is judged twice"


def test_a_batch_runs_with_a_model(run: Run, tmp_path: Path, sim: Simulator) -> None:
    lines = run("batch/batch.py", ANSWERS, "reports", sim=sim)
    assert len(lines) == 9 + 3
    summary = json.loads((tmp_path / "reports" / "summary.json").read_text(encoding="utf-8"))
    assert summary["fingerprint"]["model"] == MODEL


@pytest.mark.parametrize("program", ["batch/batch.py", "ray/spread.py"])
def test_a_program_without_its_files_says_how_it_is_started(run: Run, program: str) -> None:
    with pytest.raises(SystemExit, match=f"python examples/{program} "):
        run(program)


@pytest.mark.ray
@pytest.mark.timeout(300)
def test_two_workers_on_ray_find_the_same(run: Run, tmp_path: Path) -> None:
    """A process of its own, since the workers end with it."""
    pytest.importorskip("ray")
    command = [sys.executable, "-W", "error", str(EXAMPLES / "ray" / "spread.py"), str(ANSWERS), "reports"]
    environment = {**os.environ, "FACTLOOP_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280)
    assert (done.returncode, done.stdout.splitlines()) == (0, run("batch/batch.py", ANSWERS, "alone")[-3:]), done.stderr
