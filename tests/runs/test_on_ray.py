"""Two workers on Ray judge what one process judges, whoever of them dies."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from factloop.checker import FactChecker
from factloop.errors import ConfigError, DataError
from factloop.evaluation.runs.records import JudgedResponse
from factloop.runs.here import judge_here
from factloop.runs.items import RunItem
from factloop.runs.on_ray import connected, judge_on_ray
from factloop.settings import CheckSettings
from tests.simulator import INSTANT, MODEL, Simulator

VOLATILE = {"usage", "created_at", "retrieved_at"}
N = 4
STARTED_WITHIN_S = 60.0


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator, pytest.MonkeyPatch.context() as patch:
        for name, value in simulator.environment.items():
            patch.setenv(name, value)
        yield simulator


@pytest.fixture
def settings(sim: Simulator) -> CheckSettings:
    sim.set(**vars(INSTANT))
    sim.reset()
    return CheckSettings(model=MODEL, base_url=sim.base_url, search=("serper",), cache=False)


@pytest.fixture(scope="module")
def cluster(sim: Simulator) -> Iterator[None]:
    """One Ray for all tests here: it takes seconds to start. Its processes inherit the simulator's addresses."""
    assert sim.environment
    with connected(3, None):
        yield


def items_of(sim: Simulator, n: int = N) -> list[RunItem]:
    responses = sorted(sim.world.responses, key=lambda response: len(response.facts))[:n]
    return [
        RunItem(id=f"r{number}", system="sim", prompt_id=one.prompt, prompt=one.prompt, response=one.text)
        for number, one in enumerate(responses)
    ]


def stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: stable(part) for name, part in value.items() if name not in VOLATILE}
    return [stable(part) for part in value] if isinstance(value, list) else value


def as_judged(judged: list[JudgedResponse]) -> dict[str, Any]:
    assert len({one.id for one in judged}) == len(judged)
    return {one.id: stable(one.model_dump(mode="json")) for one in judged}


async def here(settings: CheckSettings, items: list[RunItem], journal: Path | None = None) -> dict[str, Any]:
    async with (
        FactChecker(settings=settings) as checker,
        aclosing(judge_here(checker, items, journal=journal)) as found,
    ):
        return as_judged([one async for one in found])


async def on_ray(settings: CheckSettings, items: list[RunItem], directory: Path | None = None) -> dict[str, Any]:
    async with aclosing(judge_on_ray(settings, items, directory=directory, workers=2)) as found:
        return as_judged([one async for one in found])


def workers() -> list[int]:
    """Process ids of the workers that are at work for this process."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    raylets = {pid for pid, ppid, *_ in rows if ppid == str(os.getpid())}
    return [int(pid) for pid, ppid, *args in rows if ppid in raylets and args[0].startswith("ray::Worker")]


async def gone() -> bool:
    for _ in range(100):
        if not workers():
            return True
        await asyncio.sleep(0.1)
    return False


@pytest.mark.usefixtures("cluster")
async def test_two_workers_judge_as_one_process_and_share_its_journal(
    sim: Simulator, settings: CheckSettings, tmp_path: Path
) -> None:
    items = items_of(sim)
    judged = await on_ray(settings, items, tmp_path)
    paid = sum(stage.requests for stage in sim.stats().stages.values())
    assert {name for name in os.listdir(tmp_path) if not name.endswith(("-wal", "-shm"))} == {"journal.sqlite"}
    assert await here(settings, items, tmp_path / "journal.sqlite") == judged
    assert sum(stage.requests for stage in sim.stats().stages.values()) == paid > 0
    assert await here(settings, items) == judged
    assert await gone()


@pytest.mark.usefixtures("cluster")
async def test_a_response_whose_worker_dies_is_judged_all_the_same(
    sim: Simulator, settings: CheckSettings, tmp_path: Path
) -> None:
    items = items_of(sim)
    sim.set(llm_latency_s=0.5)
    judging = asyncio.create_task(on_ray(settings, items, tmp_path))
    killed = await kill_one_at_work(sim)
    judged = await judging
    assert killed not in workers()
    sim.set(llm_latency_s=0.0)
    assert judged == await here(settings, items)


@pytest.mark.usefixtures("cluster")
async def test_a_limit_on_calls_is_kept_by_all_workers_together(
    sim: Simulator, settings: CheckSettings, tmp_path: Path
) -> None:
    items = items_of(sim)
    judged = await on_ray(CheckSettings.of(settings, max_calls=12), items, tmp_path)
    assert sorted(judged) == [item.id for item in items]
    reasons = {claim["judgement"]["unscored_reason"] for one in judged.values() for claim in one["report"]["claims"]}
    assert "budget" in reasons
    assert 0 < sum(stage.requests for name, stage in sim.stats().stages.items() if name != "search") <= 12


@pytest.mark.usefixtures("cluster")
async def test_who_stops_early_ends_the_workers_and_has_read_no_further_than_they_have_room(
    sim: Simulator, settings: CheckSettings
) -> None:
    read: list[str] = []

    def items() -> Iterator[RunItem]:
        for number in range(1000):
            read.append(str(number))
            yield RunItem(id=str(number), system="s", prompt_id="p", prompt=None, response=sim.world.responses[0].text)

    few = CheckSettings.of(settings, concurrency=8)
    async with aclosing(judge_on_ray(few, items(), directory=None, workers=2)) as judging:
        await anext(judging)
    assert len(read) <= 2 * 4
    assert await gone()


@pytest.mark.usefixtures("cluster")
async def test_a_wrong_set_up_is_the_error_that_it_is_in_one_process(sim: Simulator, settings: CheckSettings) -> None:
    wrong = CheckSettings.of(settings, docs=("nowhere.txt",))
    with pytest.raises(DataError, match=r"nowhere\.txt") as one:
        await here(wrong, items_of(sim, 1))
    with pytest.raises(DataError) as two:
        await on_ray(wrong, items_of(sim, 1))
    assert str(one.value) == str(two.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"workers": 0}, "--workers 0: at least one is needed"),
        ({"workers": 65}, "--workers 65: more than the calls in flight"),
    ],
)
async def test_numbers_of_workers_that_make_no_sense(
    settings: CheckSettings, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        await anext(judge_on_ray(settings, [], directory=None, **arguments))


async def test_without_ray_it_says_how_to_get_it(settings: CheckSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'factloop\[ray\]'"):
        await anext(judge_on_ray(settings, [], directory=None, workers=2))


async def kill_one_at_work(sim: Simulator) -> int:
    """Kills a worker while something is asked for."""
    started = time.monotonic()
    while sim.stats().in_flight < 2 or not workers():
        assert time.monotonic() - started < STARTED_WITHIN_S
        await asyncio.sleep(0.05)
    pid = workers()[0]
    os.kill(pid, signal.SIGKILL)
    return pid
