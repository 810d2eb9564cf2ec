"""Two Ray workers judge what one process judges, even if one of them dies.

test_workers.py tests the rest without Ray, since each worker started here takes seconds.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from factloop.checking.checker import FactChecker
from factloop.core.errors import ConfigError
from factloop.core.extras import install_command
from factloop.evaluation.running.on_ray import connected
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.run import judge_on_ray, open_judge
from factloop.setup.settings import CheckSettings
from tests.cli.command import build_command
from tests.evaluation.running.short_responses import short_items, write_items
from tests.simulator import INSTANT, MODEL, Simulator
from tests.timeless import results, stable

pytestmark = pytest.mark.timeout(400)  # Ray and its workers take seconds to start, on a busy machine a minute


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator, pytest.MonkeyPatch.context() as patch:
        for name, value in {**simulator.environment, "OPENAI_BASE_URL": simulator.base_url}.items():
            patch.setenv(name, value)
        yield simulator


@pytest.fixture
def settings(sim: Simulator) -> CheckSettings:
    sim.set(**vars(INSTANT))
    sim.reset()
    return CheckSettings(model=MODEL, base_url=sim.base_url, search=("serper",), cache=False)


@pytest.fixture(scope="module")
def cluster(sim: Simulator) -> Iterator[None]:
    """One Ray cluster for all tests here. Its processes inherit the simulator's addresses."""
    assert sim.environment
    with connected(2, None):
        yield


def as_judged(judged: list[JudgedResponse]) -> dict[str, Any]:
    assert len({one.id for one in judged}) == len(judged)
    return {one.id: stable(one.model_dump(mode="json")) for one in judged}


async def here(settings: CheckSettings, items: list[RunItem]) -> dict[str, Any]:
    async with FactChecker(settings=settings) as checker, open_judge(checker) as judge:
        return as_judged([await judge(item) for item in items])


def workers() -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    raylets = {pid for pid, ppid, *_ in rows if ppid == str(os.getpid())}
    return [int(pid) for pid, ppid, *args in rows if ppid in raylets and args[0].startswith("ray::Worker")]


async def until_they_are_gone() -> None:
    while workers():  # noqa: ASYNC110 -- another process's end is not an event of ours
        await asyncio.sleep(0.1)


@pytest.mark.usefixtures("cluster", "settings")
def test_two_workers_end_a_run_as_one_process_does_which_can_go_on_with_it(
    sim: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    factloop = build_command(monkeypatch, capsys)
    data = write_items(tmp_path / "responses.jsonl", short_items(sim.world, 8))
    flags = [data, "--model", MODEL, "--search", "serper", "--k", 2, "--k", "median", "--resamples", 50, "--quiet"]
    one, two = tmp_path / "one", tmp_path / "two"
    assert factloop("eval", *flags, "--run-dir", one).code == 0
    sim.reset()
    on_workers = factloop("eval", *flags, "--run-dir", two, "--workers", 2)
    assert (on_workers.code, on_workers.out, on_workers.err) == (0, "", "")
    assert [path.name for path in two.glob("*.sqlite")] == ["journal.sqlite"]
    assert sim.stats().model.requests > 0
    sim.reset()
    assert results(two) == results(one)
    (two / "reports.jsonl").unlink()
    assert factloop("eval", *flags, "--run-dir", two).code == 0
    assert results(two) == results(one)
    assert sim.stats().stages == {}  # all from the workers' journal


@pytest.mark.usefixtures("cluster")
async def test_a_dead_worker_is_replaced_and_who_stops_early_ends_its_replacement(
    sim: Simulator, settings: CheckSettings
) -> None:
    read: list[RunItem] = []

    def items() -> Iterator[RunItem]:
        for item in short_items(sim.world, 1000):
            read.append(item)
            yield item

    sim.set(llm_latency_s=2.0)
    few = CheckSettings.of(settings, concurrency=8)
    async with aclosing(judge_on_ray(few, items(), directory=None, workers=1)) as judging:
        first = asyncio.ensure_future(anext(judging))
        killed = await kill_one_at_work(sim, first)
        n_read = len(read)
        sim.set(llm_latency_s=0.0)
        judged = await first  # it was given to the dead one: nothing more was read in between
        assert killed not in workers()
    assert n_read == len(read) == 4  # half of --concurrency: all that a worker has room for
    assert as_judged([judged]) == await here(settings, [item for item in read if item.id == judged.id])
    await until_they_are_gone()


async def test_more_workers_than_calls_at_once_make_no_sense(settings: CheckSettings) -> None:
    with pytest.raises(ConfigError, match="--workers must not exceed --concurrency"):
        await anext(judge_on_ray(settings, [], directory=None, workers=65))


async def test_without_ray_it_says_how_to_get_it(settings: CheckSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=re.escape(install_command("ray"))):
        await anext(judge_on_ray(settings, [], directory=None, workers=2))


async def kill_one_at_work(sim: Simulator, judging: asyncio.Task[Any]) -> int:
    while not sim.stats().in_flight:
        assert not judging.done(), "it ended too early"
        await asyncio.sleep(0.02)
    pid = workers()[0]
    os.kill(pid, signal.SIGKILL)
    return pid
