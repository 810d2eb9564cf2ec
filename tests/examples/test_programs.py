"""Every program among the examples runs: by itself offline, and against the simulator as a model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.programs import EXAMPLES, run
from tests.simulator import MODEL, Simulator

ANSWERS = EXAMPLES / "evaluation" / "responses.jsonl"
PRECISIONS = ["careful: precision 0.92, n = 3", "hasty: precision 0.39, n = 3", "shy: precision 1.00, n = 2"]


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


def test_the_graph_writes_anew_what_did_not_hold(tmp_path: Path) -> None:
    lines = run("langgraph/rewriting.py", folder=tmp_path)
    assert [line.split(": ")[:2] for line in lines[:4]] == [
        ["draft 1", "supported"],
        ["draft 1", "not_supported"],
        ["draft 2", "supported"],
        ["draft 2", "supported"],
    ]
    assert lines[-1].endswith("It was lit in 1759.")


def test_the_graph_runs_with_a_model(tmp_path: Path, sim: Simulator) -> None:
    assert run("langgraph/rewriting.py", folder=tmp_path, sim=sim)[-1].startswith("John Smeaton")


def test_a_batch_reports_each_answer_and_goes_on_where_it_was(tmp_path: Path) -> None:
    lines = run("batch/batch.py", ANSWERS, "reports", folder=tmp_path)
    assert "hasty-towers: 2 of 4 supported, 0 unscored" in lines
    assert lines[-3:] == PRECISIONS
    assert len((tmp_path / "reports" / "reports.jsonl").read_text(encoding="utf-8").splitlines()) == 9
    assert run("batch/batch.py", ANSWERS, "reports", folder=tmp_path) == PRECISIONS, "nothing is judged twice"


def test_a_batch_runs_with_a_model(tmp_path: Path, sim: Simulator) -> None:
    lines = run("batch/batch.py", ANSWERS, "reports", folder=tmp_path, sim=sim)
    assert len(lines) == 9 + 3
    summary = json.loads((tmp_path / "reports" / "summary.json").read_text(encoding="utf-8"))
    assert summary["fingerprint"]["model"] == MODEL


@pytest.mark.parametrize("program", ["batch/batch.py", "ray/spread.py"])
def test_a_program_without_its_files_says_how_it_is_started(program: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / program)], capture_output=True, text=True, timeout=100)
    assert done.returncode == 1
    assert f"python examples/{program} " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.timeout(300)
def test_two_workers_on_ray_find_the_same(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    assert run("ray/spread.py", ANSWERS, "reports", folder=tmp_path) == PRECISIONS
