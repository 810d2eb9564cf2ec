from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from factloop.core.errors import ConfigError
from factloop.core.records import Usage
from factloop.entrance.keys import ApiKeys
from factloop.service.leases import LeasedJob, Leases
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import Progress
from factloop.service.spending import DAY_S, Cost, DayLimits, DayOver, day_limits
from factloop.service.store import JobStore, Room, StoredJob
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings
from tests.service.asking import ASK, Service, finished
from tests.service.test_store import job, seen
from tests.simulator import MODEL, Simulator

NOW = 1_800_000_000.0
KEY, OTHER = "a-key-of-sixteen-letters", "another-key-of-sixteen"


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self, _: object) -> float:
        return self.now


class Day:
    def __init__(self, store: JobStore, clock: Clock) -> None:
        self.store, self.clock = store, clock
        self.limits = DayLimits(Cost(usd=0.3, calls=30), Cost(usd=0.1, calls=10), clock)

    def service(self, seconds: float = 60.0) -> Leases:
        return Leases(self.store, seconds, day=self.limits)

    def add(self, n_jobs: int = 1, **values: Any) -> None:
        for _ in range(n_jobs):
            self.store.add(job(**values), "{}", room=Room("any", 100, self.limits))


@pytest.fixture
def day(url: str) -> Iterator[Day]:
    store = JobStore(url)
    yield Day(store, Clock())
    store.close()


def ended(one: LeasedJob, usd: float | None, calls: int, failed: int = 0) -> StoredJob:
    usage = Usage(calls=calls, failed_calls=failed, cost_usd=usd)
    return one.stored.changed(status="done", progress=Progress(usage=usage))


def test_jobs_set_aside_the_most_that_they_may_cost(day: Day) -> None:
    one, other = day.service(), day.service()
    day.add(5)
    taken = one.take(2, lapsed=False) + other.take(5, lapsed=False)
    assert len(taken) == 3, "three times 0.1 dollars are 0.3, however they are added up"
    assert other.take(5, lapsed=False) == []
    assert one.end(ended(taken[0], usd=0.02, calls=3), {"result": "{}"})
    assert other.take(5, lapsed=False) == [], "0.02 dollars are too many"
    one.give_back(taken[1].stored.changed(progress=Progress(usage=Usage(calls=1, cost_usd=0.0))))
    assert len(other.take(5, lapsed=False)) == 1


@pytest.mark.parametrize(("usd", "calls", "failed"), [(0.1, 1, 0), (0.0, 4, 6), (None, 10, 0)])
def test_a_day_that_is_spent_takes_no_job(day: Day, usd: float | None, calls: int, failed: int) -> None:
    service = day.service()
    day.add(3)
    for one in service.take(3, lapsed=False):
        service.end(ended(one, usd, calls, failed), {"result": "{}"})
        day.clock.now += 100.0
    with pytest.raises(DayOver) as refused:
        day.add()
    assert refused.value.wait_s == DAY_S - 300.0
    day.add(kind="audit")
    assert [one.stored.job.kind for one in service.take(5, lapsed=False)] == ["audit"]
    day.clock.now += refused.value.wait_s
    day.add(2)
    assert len(service.take(5, lapsed=False)) == 1


def test_a_key_that_spent_its_budget_holds_up_no_other(day: Day) -> None:
    of_key = DayLimits(
        Cost(usd=9.0), Cost(usd=0.1, calls=10), day.clock, lambda owner: Cost(calls=10 if owner == "poor" else None)
    )
    service = Leases(day.store, 60.0, day=of_key)
    room = Room("any", 100, of_key)
    for owner, kind in [("poor", "check"), ("poor", "check"), ("poor", "audit"), ("rich", "check"), ("rich", "check")]:
        day.store.add(job(owner, kind=kind), "{}", room=room)
    taken = service.take(9, lapsed=False)
    assert sorted(one.stored.owner for one in taken) == ["poor", "poor", "rich", "rich"]
    for one in taken:
        service.end(ended(one, 0.1, 10), {"result": "{}"})
    with pytest.raises(DayOver, match="of this key"):
        day.store.add(job("poor"), "{}", room=room)
    day.store.add(job("rich"), "{}", room=room)


def test_a_job_that_was_deleted_was_paid_for(day: Day) -> None:
    service = day.service()
    day.add(3)
    for one in service.take(3, lapsed=False):
        service.end(ended(one, 0.1, 1), {"result": "{}"})
        day.store.delete(one.stored.job.id)
    with pytest.raises(DayOver):
        day.add()
    day.clock.now += DAY_S
    day.store.within(day.limits.forget)
    day.add(3)
    assert len(service.take(5, lapsed=False)) == 3


def test_what_a_dead_service_set_aside_counts(day: Day) -> None:
    dead, alive = day.service(0.0), day.service()
    day.add(4)
    assert len(dead.take(2, lapsed=False)) == 2
    alive.begin()
    assert len(alive.take(9, lapsed=True)) == 1
    with pytest.raises(DayOver):
        day.store.add(job(), "{}", room=Room("any", 100, DayLimits(Cost(usd=0.25), Cost(usd=0.1), day.clock)))


def test_a_job_of_a_dead_service_is_queued_until_the_day_has_room(day: Day, caplog: pytest.LogCaptureFixture) -> None:
    dead, alive = day.service(0.0), day.service()
    day.add(2)
    left = [one.stored.job.id for one in dead.take(2, lapsed=False)]
    alive.begin()
    assert len(alive.take(1, lapsed=True)) == 1
    for _ in range(3):  # looked at again and again, it dies no further death
        assert alive.take(5, lapsed=True) == []
    waiting = seen(day.store, left[1])
    assert (waiting.status, waiting.started_at, waiting.n_deaths) == ("queued", None, 1)
    assert [record.getMessage() for record in caplog.records] == [
        f"job {left[1]}: its service died, and the 24-hour budget is used up; waiting"
    ]
    day.clock.now += DAY_S
    (again,) = alive.take(5, lapsed=True)
    assert (again.stored.job.id, again.may_have_paid, again.stored.job.n_deaths) == (left[1], True, 1)


@pytest.mark.parametrize(
    ("own", "all_may", "check", "trust", "share"),
    [
        ("", {"budget_usd_per_day": 1.0}, {}, {}, Cost(usd=0.1)),
        ("", {"budget_usd_per_day": 1.0}, {"budget_usd": 2.0}, {"budget_usd": 0.5}, Cost(usd=1.0)),
        ("", {"max_calls_per_day": 50}, {"max_calls": 5}, {}, Cost(calls=5)),
        ("max_calls_per_day=5", {}, {}, {}, Cost(calls=1)),
        ("budget_usd_per_day=0.5", {"budget_usd_per_day": 9.0}, {}, {}, Cost(usd=0.05)),
        ("", {}, {}, {}, Cost()),
    ],
)
def test_a_job_may_cost_a_tenth_of_the_day_unless_its_limit_is_set(
    own: str, all_may: dict[str, Any], check: dict[str, Any], trust: dict[str, Any], share: Cost
) -> None:
    keys = ApiKeys([f"{KEY} {own}", OTHER])
    day = day_limits(ServiceSettings(keys=keys, **all_may), CheckSettings(**check), TrustSettings(**trust))
    mine, other = keys.grants
    assert day.share(mine) == share
    assert day.share(other) == (share if own == "" else Cost(usd=0.9 if all_may else None))


def test_a_limit_on_cost_needs_a_price() -> None:
    keys = ApiKeys([f"{KEY} budget_usd_per_day=5"])
    with pytest.raises(ConfigError, match="price"):
        day_limits(ServiceSettings(keys=keys), CheckSettings(model="unheard-of"), TrustSettings())
    with pytest.raises(ConfigError, match="budget_usd_per_day"):
        ServiceSettings(budget_usd_per_day=0.0)
    later = ApiKeys([KEY])
    day_limits(ServiceSettings(keys=later), CheckSettings(model="unheard-of"), TrustSettings())
    with pytest.raises(ConfigError, match="price"):
        later._take([f"{KEY} budget_usd_per_day=5"])  # as when a file is read again; the earlier keys then stay


def test_what_a_job_spent_counts_up_to_its_own_reservation(day: Day) -> None:
    most = [1_000]
    limits = DayLimits(Cost(), Cost(), day.clock, lambda _: Cost(calls=most[0]))
    service = Leases(day.store, 60.0, day=limits)
    day.add(owner="me")
    (one,) = service.take(1, lapsed=False)
    most[0] = 10
    service.end(ended(one, 0.1, 80), {"result": "{}"})
    most[0] = 1_000
    assert day.store.within(lambda connection: limits.left(connection, "me")).calls == 920


async def test_a_day_of_one_key_limits_its_jobs_and_no_others(service: Service, sim: Simulator) -> None:
    """Each kind of job stays within a tenth of the day's budget, as the caller is told."""
    check = CheckSettings(model=MODEL, base_url=sim.base_url, cache=False)
    trust = TrustSettings(subject_model=MODEL, base_url=sim.base_url, cache=False)
    long = {**ASK, "response": " ".join(f"Ada Lovelace met {n} people in London." for n in range(300))}
    known = sim.world.questions[0]  # which the subject stands by, so that it is asked ten times
    stood_by = {"question": known.question, "response": known.answer}
    asked = {"checks": long, "trust": stood_by, "trust/long-form": ASK}
    async with service(check, trust, keys=ApiKeys([f"{KEY} name=ben max_calls_per_day=10", OTHER])) as client:
        calls = {}
        for key in (KEY, OTHER):
            client.headers["Authorization"] = f"Bearer {key}"
            for path, body in asked.items():
                before = sim.stats().model.requests
                assert (await client.post(f"/v1/{path}?wait=true", json=body)).status_code == 200
                calls[key, path] = sim.stats().model.requests - before
        client.headers["Authorization"] = f"Bearer {KEY}"
        info = (await client.get("/v1/info")).json()
    assert {n for (key, _), n in calls.items() if key == KEY} == {1}
    assert min(n for (key, _), n in calls.items() if key == OTHER) > 1
    assert info["limits"]["each_check"]["max_calls"] == 1
    assert info["caller"] == {
        "name": "ben", "budget_usd_per_day": None, "max_calls_per_day": 10, "left_usd": None, "left_calls": 7,
    }  # fmt: skip


async def test_a_job_that_does_not_fit_is_refused(service: Service, sim: Simulator) -> None:
    check = CheckSettings(model=MODEL, base_url=sim.base_url, cache=False, max_calls=30)
    async with service(check, TrustSettings(max_calls=30), max_calls_per_day=30) as client:
        limits = (await client.get("/v1/info")).json()["limits"]
        first = await client.post("/v1/checks?wait=true", json=ASK)
        second = await client.post("/v1/checks", json=ASK)
    assert (limits["max_calls_per_day"], limits["budget_usd_per_day"]) == (30, None)
    assert (first.status_code, sim.stats().model.requests) == (200, first.json()["usage"]["calls"])
    assert (second.status_code, second.json()["error"]["type"]) == (503, "budget_spent")
    assert 86_000 < int(second.headers["Retry-After"]) <= 86_401


async def cut_off(client: httpx.AsyncClient, sim: Simulator, by: str) -> Any:
    """The finished job of a check that was stopped while calls were under way."""
    limits = {"deadline_s": 0.5} if by == "deadline" else {}
    n_before = sim.stats().model.requests
    job_id = (await client.post("/v1/checks", json={**ASK, "limits": limits})).json()["id"]
    async with asyncio.timeout(30.0):
        while sim.stats().model.requests == n_before:  # noqa: ASYNC110 - its server is no event of ours
            await asyncio.sleep(0.02)
    if by == "cancel":
        await client.post(f"/v1/jobs/{job_id}/cancel")
    return await finished(client, job_id)


@pytest.mark.parametrize(("by", "status"), [("cancel", "cancelled"), ("deadline", "done")])
async def test_calls_that_were_cut_off_count_in_the_day(by: str, status: str, service: Service) -> None:
    with Simulator(llm_latency_s=30.0) as sim:
        check = CheckSettings(
            model=MODEL, base_url=sim.base_url, cache=False, max_calls=30, budget_usd=1.0, price_in=1.0, price_out=1.0
        )
        limits = {"max_calls_per_day": 30, "budget_usd_per_day": 1.0}
        trust = TrustSettings(max_calls=30, budget_usd=1.0)
        async with service(check, trust, **limits) as client:
            job = await cut_off(client, sim, by)
            refused = await client.post("/v1/checks", json=ASK)
        usage = job["progress"]["usage"]
        assert job["status"] == status
        assert usage["calls"] + usage["failed_calls"] == sim.stats().model.requests > 0
        assert usage["cost_usd"] >= 1_024e-6, "a reply of 1,024 tokens, which may have been on its way"
        assert (refused.status_code, refused.json()["error"]["type"]) == (503, "budget_spent")


async def test_what_a_resumed_job_had_paid_before_counts_once(service: Service, home: Path) -> None:
    """Its report has the cost of both attempts. Each call counts on the day it was sent."""
    with Simulator(llm_latency_s=0.1) as sim:
        check = CheckSettings(model=MODEL, base_url=sim.base_url, cache=False, max_calls=300, concurrency=1)
        options = {"max_calls_per_day": 1_000, "stop_timeout_s": 2.0}
        long = {**ASK, "response": " ".join(f"Ada Lovelace met {n} people in London." for n in range(40))}
        async with service(check, TrustSettings(max_calls=300), **options) as client, asyncio.timeout(60.0):
            job_id = (await client.post("/v1/checks", json=long)).json()["id"]
            while sim.stats().model.answered < 2:  # noqa: ASYNC110 - its server is no event of ours
                await asyncio.sleep(0.01)
        n_before = sim.stats().model.requests
        async with service(check, TrustSettings(max_calls=300), **options) as client:
            job = await finished(client, job_id)
        n_sent = sim.stats().model.requests
    with closing(sqlite3.connect(home / "service" / "jobs.sqlite")) as database:
        counted = database.execute("SELECT calls FROM factloop_spending ORDER BY attempt").fetchall()
    assert job["progress"]["usage"]["calls"] == n_sent > n_before
    assert counted == [(n_before,), (n_sent - n_before,)]
