from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, event, select, text, update

from factloop.core.records import Usage
from factloop.entrance.keys import ApiKeys
from factloop.service.errors import error_words
from factloop.service.leases import MOST_DEATHS, Leases
from factloop.service.shapes import Progress
from factloop.service.spending import DAY_S
from factloop.service.store import (
    JobFilter,
    JobStore,
    NoRoom,
    OtherRequest,
    Repeat,
    Room,
    StoredJob,
    first_id_of,
    new_job_id,
    write_texts,
)
from factloop.service.tables import JOBS, TEXTS
from tests.service.test_store import job, seen

Opened = Callable[..., tuple[JobStore, Leases]]


@pytest.fixture
def opened(url: str) -> Iterator[Opened]:
    """Opens the database; each call acts as another service."""
    stores = []

    def make(seconds: float = 60.0, most_at_work: int | None = None) -> tuple[JobStore, Leases]:
        stores.append(JobStore(url))
        return stores[-1], Leases(stores[-1], seconds, most_at_work=most_at_work)

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def postgres_only(url: str) -> None:
    if not url.startswith("postgresql"):
        pytest.skip("several services share PostgreSQL alone")


def added(store: JobStore, n_jobs: int) -> list[str]:
    return [store.add(job(), "{}").job.id for _ in range(n_jobs)]


def taken(leases: Leases, most: int = 100, *, lapsed: bool = False) -> list[str]:
    return [one.stored.job.id for one in leases.take(most, lapsed=lapsed)]


def test_jobs_are_taken_once_and_oldest_first(opened: Opened) -> None:
    (store, one), (_, other) = opened(), opened()
    jobs = added(store, 5)
    assert taken(one, 2) == jobs[:2]
    assert taken(other, 2, lapsed=True) == jobs[2:4]
    assert (taken(one), taken(other)) == (jobs[4:], [])


def test_a_job_given_back_goes_to_the_next_service_and_counts_its_attempts(opened: Opened) -> None:
    (store, one), (_, other) = opened(), opened()
    added(store, 1)
    (first,) = one.take(1, lapsed=False)
    one.give_back(first.stored.changed(progress=Progress(n_claims_found=3)))
    waiting = seen(store, first.stored.job.id)
    assert (waiting.status, waiting.started_at, waiting.progress) == ("queued", None, Progress())
    (second,) = other.take(1, lapsed=False)
    assert (second.stored.attempt, second.may_have_paid) == (2, False)
    assert not one.end(first.stored.changed(status="done"), {"result": "of the first"})
    assert other.end(second.stored.changed(status="done"), {"events": "[]", "result": "of the second"})
    assert store.text(first.stored.job.id, "result") == "of the second"


@pytest.mark.usefixtures("postgres_only")
def test_leases_lapse_unless_they_are_renewed(opened: Opened) -> None:
    (store, dead), (_, alive), (_, third) = opened(0.05), opened(60.0), opened()
    jobs = added(store, 2)
    (lost,), (kept,) = dead.take(1, lapsed=False), alive.take(1, lapsed=False)
    time.sleep(0.06)
    assert taken(third) == [], "after an outage leases are left alone"
    assert dead.renew([lost.stored]).held == {jobs[0]}
    time.sleep(0.06)
    assert taken(third, lapsed=True) == jobs[:1]
    assert dead.renew([lost.stored]).held == frozenset()
    dead.keep_events(lost.stored, '["late"]')
    assert store.text(jobs[0], "events") is None
    assert alive.renew([kept.stored.changed(progress=Progress(n_claims_found=2))]).held == {jobs[1]}
    alive.keep_events(kept.stored, '["early"]')
    assert (seen(store, jobs[1]).progress.n_claims_found, store.text(jobs[1], "events")) == (2, '["early"]')


@pytest.mark.usefixtures("postgres_only")
def test_leases_begin_at_the_end_however_long_each_statement_takes(opened: Opened) -> None:
    store, leases = opened(60.0)
    n_second = 0

    def a_second_later(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> Any:
        nonlocal n_second
        n_second += 1
        return statement.replace("clock_timestamp()", f"to_timestamp({n_second})"), parameters

    event.listen(store.engine, "before_cursor_execute", a_second_later, retval=True)
    added(store, 3)
    jobs = [one.stored for one in leases.take(3, lapsed=False)]
    for n_later in (2, 3):  # two statements to read this, and one with which a renewal counts the services
        with store.engine.connect() as connection:
            assert connection.scalars(select(JOBS.c.leased_until)).all() == [60.0 + n_second - n_later] * 3
        leases.renew(jobs)


def test_an_earlier_process_leaves_its_jobs_to_the_next(url: str, opened: Opened) -> None:
    if not url.startswith("sqlite"):
        pytest.skip("leases in PostgreSQL lapse")
    store, dead = opened()
    jobs = added(store, 2)
    assert taken(dead, 1) == jobs[:1]
    _, alive = opened()
    alive.begin()
    assert taken(alive) == jobs


@pytest.mark.parametrize(("usage", "may_have_paid"), [(None, False), (Usage(), False), (Usage(searches=1), True)])
def test_a_stopped_service_that_asked_nothing_has_paid_nothing(
    opened: Opened, usage: Usage | None, may_have_paid: bool
) -> None:
    store, leases = opened()
    added(store, 1)
    (first,) = leases.take(1, lapsed=False)
    leases.give_back(first.stored.changed(progress=Progress(usage=usage)))
    (again,) = leases.take(1, lapsed=False)
    assert (again.may_have_paid, again.stored.job.progress) == (may_have_paid, Progress())


def test_a_job_under_which_services_die_is_given_up(opened: Opened) -> None:
    store, first = opened(0.0)
    (job_id,) = added(store, 1)
    for n_deaths in range(MOST_DEATHS):
        _, leases = opened(0.0)
        (leased,) = leases.take(1, lapsed=True)
        assert leased.stored.job.n_deaths == n_deaths
        if n_deaths == 0:
            leases.give_back(leased.stored)  # stopped, and not dead
            assert taken(leases, 1, lapsed=True) == [job_id]
        first.begin()
    assert taken(first, 1, lapsed=True) == []
    given_up, words = seen(store, job_id), "the service died 3 times while running this job"
    assert (given_up.status, given_up.n_deaths) == ("failed", MOST_DEATHS)
    assert given_up.error == error_words("internal", words)


def test_a_damaged_row_holds_up_no_other(opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    store, leases = opened()
    jobs = added(store, 4)
    with store.engine.begin() as connection:
        last = 2**31 - 1 if store.is_shared else 2**63 - 1
        connection.execute(update(JOBS).where(JOBS.c.id == jobs[0]).values(attempt=last))
        connection.execute(delete(TEXTS).where(TEXTS.c.job_id == jobs[1]))
        connection.execute(update(JOBS).where(JOBS.c.id == jobs[2]).values(job=job().job.model_dump_json()))
    assert taken(leases) == jobs[2:], "a row has the id of its column"
    for damaged in jobs[:2]:
        failed, words = seen(store, damaged), "this job was damaged in the database"
        assert (failed.status, failed.error) == ("failed", error_words("internal", words))
        assert f"job {damaged}: its row is damaged" in caplog.text


def test_jobs_whose_keys_were_removed_are_cancelled(opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    store, dead = opened()
    running, waiting = (store.add(job("removed"), "{}").job.id for _ in range(2))
    assert taken(dead, 1) == [running]
    keys = ApiKeys(["a-key-of-sixteen-letters"])
    kept = store.add(job(next(iter(keys.grants))), "{}").job.id
    alive = Leases(store, 60.0, keys=keys)
    alive.begin()
    alive.cancel_disowned()
    assert taken(alive) == [kept]
    for job_id in (waiting,) if store.is_shared else (running, waiting):
        over, words = seen(store, job_id, "removed"), "the key that submitted this job was removed"
        assert (over.status, over.error) == ("cancelled", error_words("cancelled", words))
    if store.is_shared:  # where the other service may still live
        (left,) = store.page("removed", limit=1, wanted=JobFilter(status="running"))[0]
        assert dead.renew([left]).cancelled == {running}
    assert caplog.messages == ["unfinished jobs cancelled because their keys were removed: 2"]


def test_a_job_is_cancelled_where_it_is(opened: Opened) -> None:
    (store, one), (_, other) = opened(), opened()
    waiting, running = added(store, 2)[::-1]
    (leased,) = one.take(1, lapsed=False)
    for job_id in (waiting, running):
        assert other.cancel(job_id) == store.get(job_id, "")
    assert (seen(store, waiting).status, seen(store, running).status) == ("cancelled", "running")
    assert one.renew([leased.stored]).cancelled == {running}
    one.give_back(leased.stored)
    assert taken(other) == [], "it was asked to end"
    assert seen(store, running).status == "cancelled"
    assert other.cancel(new_job_id()) is None


def test_a_name_stands_for_one_request_of_one_owner(opened: Opened) -> None:
    store, _ = opened()
    first = store.add(job("ada"), "{}", Repeat("k", "digest"))
    assert store.add(job("ada"), "{}", Repeat("k", "digest")) == first
    assert store.add(job("bo"), "{}", Repeat("k", "digest")) != first
    with pytest.raises(OtherRequest):
        store.add(job("ada"), "{}", Repeat("k", "another"))
    store.forget_repeats(-0.001)
    assert store.add(job("ada"), "{}", Repeat("k", "another")) != first
    assert len(store.page("ada", limit=10)[0]) == 2
    store.delete(first.job.id)
    assert store.get(first.job.id, "ada") is None


def test_room_is_what_waits_for_all_and_is_at_work_here(opened: Opened) -> None:
    (store, one), (other_store, other) = opened(), opened()
    added(store, 3)
    assert len(taken(other, 2)) == 2
    store.add(job(), "{}", room=Room(one.service, most=2))  # one waits, two are at work elsewhere
    with pytest.raises(NoRoom):
        store.add(job(), "{}", room=Room(one.service, most=2))
    with pytest.raises(NoRoom):
        other_store.add(job(), "{}", room=Room(other.service, most=4))


def test_jobs_at_work_are_limited_over_all_services(opened: Opened) -> None:
    (store, one), (_, other) = opened(most_at_work=3), opened(most_at_work=3)
    jobs = added(store, 5)
    assert (taken(one, 2), taken(other, 2)) == (jobs[:2], jobs[2:3])
    one.give_back(StoredJob(job().job.model_copy(update={"id": jobs[0]}), ""))
    assert (taken(one), taken(other)) == (jobs[:1], [])


@pytest.mark.usefixtures("postgres_only")
def test_a_renewal_says_how_many_services_are_at_work(opened: Opened) -> None:
    (store, one), (_, other), (_, dead) = opened(), opened(), opened(0.0)
    added(store, 4)
    (mine,) = one.take(1, lapsed=False)
    assert one.renew([mine.stored]).n_services == 1
    (theirs, more) = other.take(2, lapsed=False)
    assert len(dead.take(1, lapsed=False)) == 1
    assert one.renew([mine.stored]).n_services == 2
    for ended in (theirs, more):
        other.end(ended.stored.changed(status="done"), {"result": "{}"})
    assert one.renew([mine.stored]).n_services == 1


@pytest.mark.usefixtures("postgres_only")
def test_what_a_dead_service_had_is_not_at_work(opened: Opened) -> None:
    (store, dead), (_, alive) = opened(0.05, most_at_work=2), opened(most_at_work=1)
    jobs = added(store, 3)
    assert taken(dead) == jobs[:2]
    time.sleep(0.06)
    assert taken(alive) == [], "after an outage it may be at work still"
    alive.cancel(jobs[0])
    assert seen(store, jobs[0]).status == "cancelled"
    assert taken(alive, lapsed=True) == jobs[1:2]
    assert taken(alive, lapsed=True) == []


@pytest.mark.usefixtures("postgres_only")
def test_a_wrong_clock_deletes_nothing(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    store, leases = opened()
    added(store, 1)
    (one,) = leases.take(1, lapsed=False)
    leases.end(one.stored.changed(status="done"), {})
    monkeypatch.setattr(time, "time", lambda now=time.time: now() + 2 * DAY_S)
    assert store.delete_some(1.0) is None


@pytest.mark.usefixtures("postgres_only")
def test_a_job_is_deleted_while_its_labels_change(opened: Opened) -> None:
    store, _ = opened()
    (job_id,) = added(store, 1)
    wanted = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    with ThreadPoolExecutor(1) as other, store.engine.begin() as connection:
        connection.execute(select(JOBS).where(JOBS.c.id == job_id).with_for_update())
        deleting = other.submit(store.delete, job_id)
        while not store.within(lambda watching: watching.scalar(wanted)):
            time.sleep(0.01)
        write_texts(connection, job_id, "", {"request": "{}"})
        connection.commit()
        deleting.result(10.0)
    assert store.get(job_id, "") is None


def test_old_jobs_that_are_over_are_forgotten(opened: Opened) -> None:
    store, leases = opened()
    long_ago = datetime.now(UTC) - timedelta(days=40)

    def made(days: int, owner: str, status: str) -> str:
        one = job(owner, status=status)
        number = f"{int(first_id_of(long_ago + timedelta(days=days)), 16) + len(ids):032x}"
        ids.append(number)
        store.add(StoredJob(one.job.model_copy(update={"id": number}), owner), "{}")
        return number

    ids: list[str] = []
    old, waiting = made(0, "ada", "done"), made(0, "ada", "queued")
    theirs, new = made(0, "bo", "done"), made(39, "ada", "done")
    assert [store.delete_some(30.0, "ada") for _ in range(2)] == [1, None]
    assert [one.job.id for one in store.page("ada", limit=9)[0]] == [new, waiting]
    assert store.text(old, "request") is None
    assert store.finished([old, waiting, theirs, new]) == {theirs, new}
    assert store.delete_some(30.0) == 1
    assert taken(leases) == [waiting]
