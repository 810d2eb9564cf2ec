from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, update

from factloop import FactChecker, TrustScorer
from factloop.core.errors import ConfigError, UnreadableAnswer
from factloop.entrance.work_loop import THREADS_AT_WORK, WorkLoop
from factloop.service.errors import failure_words
from factloop.service.kept import THREADS_TO_A_SERVER, Database
from factloop.service.leases import LeasedJob, Leases
from factloop.service.metrics import Metrics
from factloop.service.running import TAKEN_AT_ONCE, LiveJob, Runner, write_events
from factloop.service.shapes import Progress
from factloop.service.store import JobStore
from factloop.service.tables import JOBS
from factloop.service.work import JobListener, Library, Work
from factloop.setup.run_directory import RunDirectory
from factloop.tools.calls.blame import raise_blamed
from factloop.tools.calls.limiter import CALLER
from tests.service.asking import ASK, FINISHED_WITHIN_S, Service
from tests.service.test_store import job, seen

LEASE_S = 0.5


@pytest.fixture
def store(url: str) -> JobStore:
    return JobStore(url)


@pytest.fixture
async def runner(store: JobStore, tmp_path: Path) -> AsyncIterator[Runner]:
    work = Work(FactChecker(cache=False), TrustScorer(cache=False), Library({}))
    database, leases = Database(store), Leases(store, LEASE_S)
    runner = Runner(database, leases, work, tmp_path / "journals", Metrics({}), max_running=TAKEN_AT_ONCE + 1)
    yield runner
    await runner.aclose()
    await work.aclose()
    await database.aclose()


async def until(is_so: Callable[[], object], pause_s: float = 0.0) -> None:
    async with asyncio.timeout(FINISHED_WITHIN_S):
        while not is_so():  # noqa: ASYNC110 - an event would come after the first step of a task
            await asyncio.sleep(pause_s)


async def taken(runner: Runner) -> LiveJob:
    """The running job, whose task exists but has not taken its first step."""
    await until(lambda: runner.live)
    (live,) = runner.live.values()
    return live


async def test_work_that_computes_holds_up_no_request_and_has_ended_when_it_is_cancelled() -> None:
    loop, begun, go = WorkLoop(), threading.Event(), threading.Event()
    seen: list[str] = []

    async def work() -> None:
        begun.set()
        assert go.wait(FINISHED_WITHIN_S)
        try:
            await asyncio.sleep(FINISHED_WITHIN_S)
        finally:
            await asyncio.sleep(0)
            seen.append("ended")

    working = asyncio.create_task(loop.do(work))
    await until(begun.is_set)
    working.cancel()
    await asyncio.sleep(0)
    go.set()
    assert isinstance((await asyncio.gather(working, return_exceptions=True))[0], asyncio.CancelledError)
    await loop.aclose()
    assert seen == ["ended"]


async def test_who_computes_little_and_who_is_cancelled_do_not_wait_for_what_computes_much() -> None:
    loop, n_heavy_steps, ended = WorkLoop(), 0, threading.Event()
    CALLER.set("heavy")

    async def heavy() -> None:
        nonlocal n_heavy_steps
        while not ended.is_set():
            n_heavy_steps += 1
            sum(range(100_000))
            await asyncio.sleep(0)

    async def many() -> None:
        await asyncio.gather(*(heavy() for _ in range(20)))

    async def light() -> int:
        CALLER.set("light")
        before = n_heavy_steps
        for _ in range(60):
            await asyncio.sleep(0)
        return n_heavy_steps - before

    async def deep(level: int) -> None:
        await (asyncio.create_task(deep(level - 1)) if level else asyncio.sleep(FINISHED_WITHIN_S))

    working, cancelled = asyncio.create_task(loop.do(many)), asyncio.create_task(loop.do(lambda: deep(50)))
    await until(lambda: n_heavy_steps > 20 * 100)
    n_waited_for, before = await loop.do(light), n_heavy_steps
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    n_before_the_end = n_heavy_steps - before
    ended.set()
    await working
    await loop.aclose()
    assert n_waited_for < 60  # in a standard loop, each of its 60 steps waits for 20 others
    assert n_before_the_end < 50 * 20  # its 50 tasks end one after the other


async def test_a_cancelled_call_holds_its_thread_until_it_has_ended() -> None:
    loop, go, begun = WorkLoop(), threading.Event(), list[str]()

    def block() -> None:
        begun.append("blocked")
        assert go.wait(FINISHED_WITHIN_S)

    working = [asyncio.create_task(loop.do(partial(asyncio.to_thread, block))) for _ in range(THREADS_AT_WORK)]
    await until(lambda: len(begun) == THREADS_AT_WORK)
    for one in working:
        one.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    later = asyncio.create_task(loop.do(partial(asyncio.to_thread, begun.append, "later")))
    for _ in range(20):
        await loop.do(partial(asyncio.sleep, 0))
    assert "later" not in begun
    go.set()
    await later
    await loop.aclose()


def test_a_server_that_sends_only_what_cannot_be_read_is_named() -> None:
    unreadable = UnreadableAnswer("openai:m: the answer is not JSON", tool="openai:m", retryable=True)
    with pytest.raises(ConfigError) as caught:
        raise_blamed(unreadable, answered=False)
    assert failure_words(caught.value).message == "openai:m sends only answers that cannot be read"


def has_kept(store: JobStore, live: LiveJob) -> bool:
    return store.text(live.stored.job.id, "events") == write_events(live.events)


async def test_a_job_that_is_cancelled_before_its_first_step_is_cancelled(runner: Runner, store: JobStore) -> None:
    store.add(job(), json.dumps(ASK))
    runner.start()
    live = await taken(runner)
    live.is_cancelled = True
    live.cancel()
    async with asyncio.timeout(FINISHED_WITHIN_S):
        await live.settled.wait()
    assert (seen(store, live.stored.job.id).status, live.is_closed, runner.live) == ("cancelled", True, {})


async def test_few_jobs_are_taken_at_once_and_the_others_soon_after(runner: Runner, store: JobStore) -> None:
    for _ in range(TAKEN_AT_ONCE + 1):
        store.add(job(), json.dumps(ASK))
    await runner._take()
    assert (len(runner.live), runner._wake.is_set()) == (TAKEN_AT_ONCE, True)


async def test_a_job_that_is_stopped_before_its_first_step_waits_again(runner: Runner, store: JobStore) -> None:
    store.add(job(), json.dumps(ASK))
    runner.start()
    live = await taken(runner)
    runner.begin_stop()
    async with asyncio.timeout(FINISHED_WITHIN_S):
        await live.settled.wait()
    leases, waiting = Leases(store, LEASE_S), list[LeasedJob]()

    def is_taken() -> bool:  # a renewal of the lost lease may still hold the row, which `take` then passes over
        waiting.extend(leases.take(1, lapsed=False))
        return bool(waiting)

    await until(is_taken, LEASE_S / 10)
    (again,) = waiting
    assert (again.stored.job.id, again.stored.job.n_deaths, runner.live) == (live.stored.job.id, 0, {})


@pytest.mark.postgres
@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_a_job_that_is_lost_and_taken_again_has_its_events_kept_anew(
    runner: Runner, store: JobStore, tmp_path: Path
) -> None:
    one = job()
    kept = []
    with RunDirectory(tmp_path / "journals" / one.job.id / "check"):  # its work waits for the folder, and tells nothing
        store.add(one, json.dumps(ASK))
        runner.start()
        for _ in range(2):
            live = await taken(runner)
            live.publish(Progress(), "progress")
            await until(partial(has_kept, store, live), LEASE_S / 10)
            kept.append(live)
            end = threading.Event()
            calls = [runner._database.save(end.wait, FINISHED_WITHIN_S) for _ in range(2 * THREADS_TO_A_SERVER)]
            others = asyncio.gather(*calls)  # renewals do not wait for these
            with store.engine.begin() as connection:
                connection.execute(update(JOBS).values(leased_by=None))
            async with asyncio.timeout(FINISHED_WITHIN_S / 2):
                await live.settled.wait()
            end.set()
            await others
    assert [(live.is_lost, len(live.events)) for live in kept] == [(True, 1)] * 2
    assert kept[0].events[0].number < kept[1].events[0].number


async def test_an_error_while_the_service_stops_is_raised(service: Service) -> None:
    def fail(_engine: Engine) -> None:
        event.remove(Engine, "engine_disposed", fail)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        async with service():
            event.listen(Engine, "engine_disposed", fail)


async def test_a_job_is_done_in_another_thread_than_requests(tmp_path: Path) -> None:
    threads: list[int] = []

    class Checker(FactChecker):
        def astream(self, *args: Any, **options: Any) -> Any:
            threads.append(threading.get_ident())
            return super().astream(*args, **options)

    work = Work(Checker(cache=False), TrustScorer(cache=False), Library({}))
    listener = JobListener(lambda _event, _type: None, lambda _progress: None)
    await work.do("check", json.dumps(ASK), tmp_path, listener)
    await work.aclose()
    assert threads
    assert threading.get_ident() not in threads
