"""Jobs at work in one event loop, and how their work is stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from factloop import FactChecker, TrustScorer
from factloop.service.documents import Library
from factloop.service.kept import Database
from factloop.service.leases import Leases
from factloop.service.live import LiveJob
from factloop.service.metrics import Metrics
from factloop.service.running import Runner
from factloop.service.store import JobStore
from factloop.service.work import Work
from tests.service.asking import ASK, FINISHED_WITHIN_S
from tests.service.test_store import job


@pytest.fixture
def store(tmp_path: Path) -> JobStore:
    return JobStore(f"sqlite:///{tmp_path / 'jobs.sqlite'}")


@pytest.fixture
async def runner(store: JobStore, tmp_path: Path) -> AsyncIterator[Runner]:
    work = Work(FactChecker(cache=False), TrustScorer(cache=False), Library({}))
    database = Database(store)
    runner = Runner(database, Leases(store, seconds=60.0), work, tmp_path / "journals", Metrics(), max_running=1)
    runner.start()
    yield runner
    await runner.aclose()
    await database.aclose()


async def taken(runner: Runner, store: JobStore) -> LiveJob:
    """A job whose task is there and has not made its first step."""
    store.add(job(), json.dumps(ASK))
    runner.wake()
    async with asyncio.timeout(FINISHED_WITHIN_S):
        while not runner.live:  # noqa: ASYNC110 - an event would come after the first step
            await asyncio.sleep(0)
    (live,) = runner.live.values()
    return live


async def test_a_job_that_is_cancelled_before_its_first_step_is_cancelled(runner: Runner, store: JobStore) -> None:
    live = await taken(runner, store)
    live.is_cancelled = True
    live.cancel()
    async with asyncio.timeout(FINISHED_WITHIN_S):
        await live.settled()
    ended = store.get(live.stored.job.id, "")
    assert ended is not None
    assert (ended.job.status, live.is_closed, runner.live) == ("cancelled", True, {})


async def test_a_job_that_is_stopped_before_its_first_step_waits_again(runner: Runner, store: JobStore) -> None:
    live = await taken(runner, store)
    runner.begin_stop()
    async with asyncio.timeout(FINISHED_WITHIN_S):
        await live.settled()
    (again,) = Leases(store, seconds=60.0).take(1, lapsed=False)
    assert (again.stored.job.id, again.stored.job.n_deaths, runner.live) == (live.stored.job.id, 0, {})
