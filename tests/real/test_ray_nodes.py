"""A run on a two-node Ray cluster, reached with a token, one node of which is killed during the run."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from factloop.evaluation.running.journals import JOURNAL, journal_at
from tests.evaluation.running.short_responses import short_items, write_items
from tests.real.ray_cluster import HEAD, SECOND, Cluster, is_installed, running_cluster
from tests.simulator import INSTANT, MODEL, Simulator
from tests.timeless import results

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not is_installed(), reason="ray is not installed"),
]

ROOT = Path(__file__).resolve().parents[2]
N_ITEMS = 16
AT_ONCE = 2  # items that one worker is at: what is done again where it dies
FEW = 3  # how many times as many calls as the average an item may take
WITHIN_S = 200.0


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:  # so slow that the first worker is not done before the second begins
        simulator.set(**{**vars(INSTANT), "llm_latency_s": 1.0})
        yield simulator


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="ray") as folder, running_cluster(Path(folder) / "r") as cluster:
        yield cluster


@pytest.fixture
def data(sim: Simulator, tmp_path: Path) -> Path:
    return write_items(tmp_path / "responses.jsonl", short_items(sim.world, N_ITEMS))


def command(data: Path, sim: Simulator, run_dir: Path, *flags: str) -> list[str]:
    return [
        sys.executable, "-m", "factloop", "eval", str(data), "--model", MODEL, "--base-url", sim.base_url,
        "--search", "serper", "--k", "2", "--resamples", "50", "--quiet", "--concurrency", "8",
        "--run-dir", str(run_dir), *flags,
    ]  # fmt: skip


def started(arguments: list[str], sim: Simulator, folder: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        arguments,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **sim.environment, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], *, code: int = 0) -> str:
    """Returns standard error; standard output must be empty."""
    with process:
        try:
            out, err = process.communicate(timeout=WITHIN_S)
        finally:
            process.kill()
    assert (process.returncode, out) == (code, ""), err
    return err


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    for _ in range(int(WITHIN_S / 0.05)):
        if is_so():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("it never came so far")


def all_at_work(run: Path) -> bool:
    kept = (run / JOURNAL, journal_at(run, SECOND, HEAD))
    return n_reports(run) >= 2 and all(n_answers(journal) for journal in kept)


def n_answers(journal: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.Error:  # not there yet
        return 0


def n_reports(run: Path) -> int:
    try:
        return (run / "reports.jsonl").read_text(encoding="utf-8").count("\n")
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize(
    ("at_work", "n_workers"),
    [(False, 2), (True, 2), (True, 3)],
    ids=["while it starts", "while both workers judge", "while a third worker waits for room"],
)
def test_a_node_is_killed_and_the_summary_is_the_same(
    sim: Simulator, cluster: Cluster, data: Path, tmp_path: Path, at_work: bool, n_workers: int
) -> None:
    """There is no room for a replacement, so the run ends without it.

    `WITHIN_S` only catches a run that never ends, since Ray decides how long this takes. Only the dead worker's items
    may be judged again.
    """
    one, two = tmp_path / "one", tmp_path / "two"
    ended(started(command(data, sim, one), sim, tmp_path))
    n_calls = sim.stats().model.requests
    flags = ("--workers", str(n_workers), "--address", cluster.address)
    process = started(command(data, sim, two, *flags), sim, tmp_path, **cluster.environment)
    wait_until(lambda: all_at_work(two) if at_work else two.exists(), process)
    cluster.kill(SECOND)
    n_killed_at = n_reports(two)
    ended(process)
    assert n_killed_at < N_ITEMS  # it was killed on the way
    assert results(two) == results(one)
    assert sim.stats().model.requests - n_calls <= n_calls + n_calls * AT_ONCE // N_ITEMS * FEW


@pytest.mark.parametrize("node", [HEAD, SECOND])
def test_the_agent_of_a_node_dies_and_the_run_goes_on_or_says_so(
    sim: Simulator, cluster: Cluster, data: Path, tmp_path: Path, node: str
) -> None:
    """Ray stops a node whose agent dies. The run ends within `WITHIN_S` and can be resumed."""
    one, two = tmp_path / "one", tmp_path / "two"
    ended(started(command(data, sim, one), sim, tmp_path))
    flags = ("--workers", "2", "--address", cluster.address)
    process = started(command(data, sim, two, *flags), sim, tmp_path, **cluster.environment)
    wait_until(lambda: all_at_work(two), process)
    cluster.kill_agent(node)
    with process:
        try:
            _, err = process.communicate(timeout=WITHIN_S)
        finally:
            process.kill()
    assert process.returncode in (0, 2), err
    if process.returncode:
        assert "all workers died" in err
        ended(started(command(data, sim, two), sim, tmp_path))
    assert results(two) == results(one)


def test_a_wrong_token_is_a_wrong_set_up(sim: Simulator, cluster: Cluster, data: Path, tmp_path: Path) -> None:
    flags = ("--workers", "2", "--address", cluster.address)
    for token in ({}, {**cluster.environment, "RAY_AUTH_TOKEN": "0" * 64}):
        process = started(command(data, sim, tmp_path / "run", *flags), sim, tmp_path, **token)
        err = ended(process, code=2)
        assert f"--address {cluster.address}" in err
        assert sim.stats().model.requests == 0
