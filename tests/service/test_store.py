from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, select, text

from factloop.core.errors import ConfigError
from factloop.core.records import Counts
from factloop.service.errors import error_words
from factloop.service.leases import Leases
from factloop.service.migrations import REVISIONS
from factloop.service.shapes import CheckSummary, Job, Progress
from factloop.service.spending import Cost, DayLimits
from factloop.service.store import JobFilter, JobStore, StoredJob, new_job_id
from factloop.service.tables import METADATA, TEXTS

HOSTILE = "\x00 \U0001f600 \u202e'; DROP TABLE factloop_jobs; -- \\ \" é\ud7ff {{7*7}}"
NOW = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture
def store(url: str) -> Iterator[JobStore]:
    opened = JobStore(url)
    yield opened
    opened.close()


@pytest.fixture
def leases(store: JobStore) -> Leases:
    return Leases(store, seconds=60.0)


def job(owner: str = "", **values: Any) -> StoredJob:
    fields: dict[str, Any] = {"kind": "check", "status": "queued", "title": "t", "created_at": NOW, **values}
    return StoredJob(Job(id=new_job_id(), **fields), owner)


def seen(store: JobStore, job_id: str, owner: str = "") -> Job:
    found = store.get(job_id, owner)
    assert found is not None
    return found.job


def test_a_job_comes_back_as_it_was(store: JobStore) -> None:
    one = job(title=HOSTILE, error=error_words("x", HOSTILE), progress=Progress(n_claims_found=2))
    store.add(one, request=f'{{"response": "{HOSTILE!r}"}}')
    assert store.get(one.job.id, "") == one
    assert store.text(one.job.id, "request") == f'{{"response": "{HOSTILE!r}"}}'
    assert store.text(one.job.id, "result") is None
    assert store.get(one.job.id, "somebody else") is None
    assert store.get(new_job_id(), "") is None


def test_a_new_state_replaces_the_old_with_its_texts(store: JobStore, leases: Leases) -> None:
    store.add(job(), "{}")
    (leased,) = leases.take(5, lapsed=False)
    one = leased.stored
    assert (one.job.status, one.attempt, leased.request, leased.may_have_paid) == ("running", 1, "{}", False)
    assert store.get(one.job.id, "") == one
    summary = CheckSummary(counts=Counts(supported=1), precision=1.0, n_calls=2, cost_usd=None)
    done = one.changed(status="done", finished_at=NOW + timedelta(seconds=1), summary=summary)
    for _ in range(2):  # saved twice is as saved once
        assert leases.end(done, {"events": "[]", "result": "{}" * 500_000})
    assert store.get(one.job.id, "") == done
    assert (store.text(one.job.id, "events"), store.text(one.job.id, "request")) == ("[]", "{}")
    assert leases.take(5, lapsed=True) == []


def test_a_deleted_job_stays_deleted(store: JobStore, leases: Leases) -> None:
    store.add(job(), "{}")
    one = leases.take(5, lapsed=False)[0].stored
    store.delete(one.job.id)
    store.delete(one.job.id)
    assert not leases.end(one.changed(status="done"), {"result": "{}"})
    assert store.get(one.job.id, "") is None
    assert store.text(one.job.id, "request") is store.text(one.job.id, "result") is None


def test_pages_go_from_new_to_old_and_show_only_the_owners(store: JobStore) -> None:
    made = [job("a" if number % 3 else "b", kind="check" if number % 2 else "trust") for number in range(9)]
    for one in made:
        store.add(one, "{}")
    ours = [one.job.id for one in reversed(made) if one.owner == "a"]
    assert [one.job.id for one in store.page("a", limit=100)[0]] == ours
    found, older = store.page("a", limit=2, before=ours[1])
    assert ([one.job.id for one in found], older) == (ours[2:4], ours[3])
    checks = [one.job.id for one in reversed(made) if one.owner == "a" and one.job.kind == "check"]
    assert [one.job.id for one in store.page("a", wanted=JobFilter("check"), limit=100)[0]] == checks
    assert store.page("a", wanted=JobFilter(status="done"), limit=100) == ([], None)
    assert store.page("a", limit=5, before=ours[-1]) == ([], None)


def test_tables_of_an_earlier_format_are_brought_up_to_date(store: JobStore, url: str) -> None:
    kept = store.add(job("a"), "é")
    with store.engine.begin() as connection:
        connection.execute(text("DROP TABLE factloop_revisions"))
        connection.execute(text("DROP INDEX factloop_texts_of_owner"))
        for column in ("owner", "n_bytes"):
            connection.execute(text(f"ALTER TABLE factloop_job_texts DROP COLUMN {column}"))
        connection.execute(text("UPDATE factloop_format SET format = 4"))
    if not store.is_shared:
        with store.held(), pytest.raises(ConfigError, match="is in use by another service"):
            JobStore(url)  # which leaves them to the service at work
    store.close()
    JobStore(url).close()
    again = JobStore(url)  # which finds them so
    again.probe()
    with again.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": REVISIONS})
        assert compare_metadata(context, METADATA) == [], "the steps lead to the tables that are used"
        assert connection.execute(select(TEXTS.c.owner, TEXTS.c.n_bytes)).all() == [("a", 1002)]
    taken = Leases(again, seconds=60.0, day=DayLimits(Cost(calls=9), Cost(calls=1))).take(1, lapsed=False)
    again.close()
    assert [one.stored.job.id for one in taken] == [kept.job.id]


def test_another_format_is_refused(url: str) -> None:
    JobStore(url).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE factloop_format SET format = 99"))
    engine.dispose()
    with pytest.raises(ConfigError, match="format 99"):
        JobStore(url)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "nonsense",
        "mysql://u:secret@h/d",
        "sqlite:////proc/none/jobs.sqlite",
        "postgresql+psycopg://u:secret@127.0.0.1:1/d",
        "postgresql+nonsense://u:secret@h/d",
    ],
)
def test_a_wrong_database_is_one_line_without_its_password(wrong: str) -> None:
    with pytest.raises(ConfigError) as raised:
        JobStore(wrong)
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_ids_sort_by_time_and_differ() -> None:
    ids = [new_job_id() for _ in range(1_000)]
    assert len(set(ids)) == 1_000
    assert sorted(one[:16] for one in ids) == [one[:16] for one in ids]
