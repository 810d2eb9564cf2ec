from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest

from factloop.core.errors import ConfigError
from factloop.entrance.keys import ApiKeys
from factloop.entrance.turns import Turns
from factloop.service.leases import LeasedJob, Leases
from factloop.service.settings import ServiceSettings
from factloop.service.store import JobStore, NoRoom, Room
from tests.service.asking import ASK, FINISHED_WITHIN_S, Service, finished
from tests.service.test_store import job, seen

KEYS = [f"key-of-tenant-number-{number}" for number in range(10)]
FLOODING, OTHERS = list(ApiKeys(KEYS).grants)[:2], list(ApiKeys(KEYS).grants)[2:]
LONG = 40  # rounds that a job of a caller who floods is at work; others have 1 or 2


def waits(url: str, flooding: list[str], every: int, rounds: int = 60) -> list[int]:
    """Rounds each job takes, for eight callers of whom two ask for a job every `every` rounds."""
    settings, rng, store = ServiceSettings(keys=ApiKeys(KEYS)), Random(7), JobStore(url)
    service = Leases(store, 60.0, turns=Turns(places=settings.max_jobs, most_each=settings.share_of(settings.max_jobs)))
    most = settings.max_jobs + settings.max_queued
    room = Room(service.service, most, most_each=settings.share_of(most))
    asked: dict[str, int] = {}
    found: list[int] = []
    at_work: list[tuple[int, LeasedJob]] = []
    for now in range(rounds):
        for until, one in [ended for ended in at_work if ended[0] <= now]:
            at_work.remove((until, one))
            service.end(one.stored.changed(status="done"), {"result": "{}"})
            found += [now - asked[one.stored.job.id]] * (one.stored.owner in OTHERS)
        for owner in rng.sample(OTHERS, 2) if now % every == 0 else ():
            stored = store.add(job(owner), "{}", room=room)  # which is never refused
            asked[stored.job.id] = now
        for owner in flooding:
            with suppress(NoRoom):
                while True:
                    asked[store.add(job(owner), "{}", room=room).job.id] = now
        taken = service.take(settings.max_jobs - len(at_work), lapsed=False)
        at_work += [(now + (LONG if one.stored.owner in flooding else rng.choice((1, 2))), one) for one in taken]
    for job_id in asked:
        store.delete(job_id)
    store.close()
    return found


@pytest.mark.parametrize(("n_flooding", "every"), [(1, 1), pytest.param(2, 4, id="two, who leave others one place")])
def test_callers_who_flood_do_not_hold_up_the_others(url: str, n_flooding: int, every: int) -> None:
    alone, flooded = waits(url, [], every), waits(url, FLOODING[:n_flooding], every)
    assert len(flooded) > 0.9 * len(alone)
    assert np.percentile(flooded, 95) <= 2 * np.percentile(alone, 95)


def test_two_services_leave_together_a_place_for_who_has_none(url: str) -> None:
    store, together = JobStore(url), Turns(places=4, most_each=2)
    services = [Leases(store, 60.0, most_at_work=4, turns=Turns(places=8), together=together) for _ in range(2)]
    for owner in FLOODING:
        for _ in range(4):
            store.add(job(owner), "{}")
    taken = [one.stored.owner for service in services for one in service.take(8, lapsed=False)]
    store.add(job(OTHERS[0]), "{}")
    last = [one.stored.owner for service in services for one in service.take(8, lapsed=False)]
    store.close()
    assert sorted(Counter(taken).values()) == [1, 2]
    assert last == OTHERS[:1]


def test_turns_go_by_weight_and_are_not_saved_up() -> None:
    turns = Turns({"a": 2.0})
    queues = {name: deque((f"{name}{number}", "check") for number in range(30)) for name in "ab"}

    def taken(n: int) -> Counter[str | None]:
        found: Counter[str | None] = Counter()
        for _ in range(n):
            owner = turns.next(queues, Counter())
            assert owner is not None
            turns.took(owner)
            found[owner] += 1
        return found

    assert taken(15) == {"a": 10, "b": 5}
    queues["c"] = deque([(f"c{number}", "check") for number in range(30)])
    assert taken(8) == {"a": 4, "b": 2, "c": 2}, "c comes late, and has no turns to catch up with"
    assert turns.next(queues, Counter(a=2, b=1, c=0)) == "c"
    assert Turns(most_each=1).next(queues, Counter(a=1, b=1, c=1)) is None
    assert Turns(places=3).next({"a": queues["a"]}, Counter(a=1, b=1)) is None, "the last place is kept"
    assert Turns(places=3).next(queues, Counter(a=1, b=1)) == "c"
    assert Turns(places=1).next(queues, Counter()) == "a"


@pytest.mark.parametrize(
    "line", ["more", "weight=0", "weight=1e-17", "weight=x", "colour=red", "budget_usd_per_day=-1", "name=a/b"]
)
def test_what_stands_behind_a_key_is_looked_at(line: str) -> None:
    assert next(iter(ApiKeys([f"{KEYS[0]} weight=2  name=acme"]).grants.values())).weight == 2.0
    with pytest.raises(ConfigError, match="API key 1") as refused:
        ApiKeys([f"{KEYS[0]} {line}"])
    with pytest.raises(ConfigError, match="API key 3 is the same as API key 1") as twice:
        ApiKeys([f"{KEYS[0]} weight=2", KEYS[1], KEYS[0]])
    assert KEYS[0] not in f"{refused.value}{twice.value}"


async def test_one_key_may_fill_its_share_of_the_queue_and_no_more(service: Service) -> None:
    ours, theirs = ({"Authorization": f"Bearer {key}"} for key in KEYS[:2])
    async with service(keys=ApiKeys(KEYS), max_jobs=2, max_queued=2) as client:
        ids = [client.post("/v1/checks", json=ASK, headers=ours) for _ in range(2)]
        assert [(await one).status_code for one in ids] == [202, 202]
        refused = await client.post("/v1/checks", json=ASK, headers=ours)
        taken = await client.post("/v1/checks", json=ASK, headers=theirs)
    assert (refused.status_code, refused.json()["error"]["type"], taken.status_code) == (503, "busy", 202)


async def test_a_key_keeps_no_more_than_its_share_until_it_deletes_jobs(service: Service) -> None:
    theirs = {"Authorization": f"Bearer {KEYS[1]}"}
    async with service(keys=ApiKeys(KEYS), max_jobs=1, max_kept_mb=0.006) as client:
        client.headers["Authorization"] = f"Bearer {KEYS[0]}"
        first, second = [(await client.post("/v1/checks", json=ASK)).json()["id"] for _ in range(2)]
        assert [(await finished(client, one))["status"] for one in (first, second)] == ["done"] * 2
        refused = await client.post("/v1/checks", json=ASK)
        claim = (await client.get(f"/v1/jobs/{first}/labels")).json()["claims"][0]["claim_id"]
        label = await client.put(f"/v1/jobs/{first}/labels/{claim}", json={"label": "supported"})
        assert (await client.post("/v1/checks", json=ASK, headers=theirs)).status_code == 202
        counted = (await client.get("/metrics")).text
        assert (await client.delete("/v1/jobs?older_than_days=0")).json() == {"n_jobs": 2}
        assert (await client.post("/v1/checks", json=ASK)).status_code == 202
        assert (await client.get("/v1/info")).json()["limits"]["max_kept_bytes"] == 6_000
    assert [one["type"] for one in (refused.json()["error"], label.json()["error"])] == ["storage_full"] * 2
    assert 'factloop_requests_total{route="/v1/checks",status="507"} 1.0' in counted


async def test_a_job_whose_key_was_removed_does_not_run_on(service: Service, home: Path) -> None:
    file, (removed, kept) = home / "service" / "jobs.sqlite", FLOODING
    file.parent.mkdir()
    store = JobStore(f"sqlite:///{file}")
    jobs = [store.add(job(owner), json.dumps(ASK)) for owner in (removed, kept)]
    async with service(keys=ApiKeys(KEYS[1:])) as client:
        client.headers["Authorization"] = f"Bearer {KEYS[1]}"
        assert (await finished(client, jobs[1].job.id))["status"] == "done"
    assert seen(store, jobs[0].job.id, removed).status == "cancelled"
    store.close()


async def test_metrics_tell_of_the_queue_and_of_each_key(service: Service) -> None:
    theirs = {"Authorization": f"Bearer {KEYS[0]}"}
    long = {**ASK, "response": " ".join(f"Ada Lovelace met {n} people in London." for n in range(300))}
    async with service(keys=ApiKeys([f"{KEYS[0]} name=acme"]), max_jobs=1) as client:
        assert (await client.post("/v1/checks?wait=true", json=ASK, headers=theirs)).status_code == 200
        ids = [(await client.post("/v1/checks", json=long, headers=theirs)).json()["id"] for _ in range(3)]
        async with asyncio.timeout(FINISHED_WITHIN_S):
            while "factloop_jobs_queued 2.0" not in (found := (await client.get("/metrics")).text):
                pass
        (oldest,) = [line for line in found.splitlines() if line.startswith("factloop_oldest_wait_seconds ")]
        assert 0.0 < float(oldest.split()[1]) < 60.0
        for one in ids:
            await client.post(f"/v1/jobs/{one}/cancel", headers=theirs)
        found = (await client.get("/metrics")).text
    assert "factloop_jobs_queued 0.0" in found
    assert 'factloop_cost_usd_total{key="acme"} 0.0' in found
    assert "factloop_loop_lag_seconds_bucket" in found
