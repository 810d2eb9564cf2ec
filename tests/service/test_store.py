"""Every database of jobs: one suite, for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from factloop.core.errors import ConfigError
from factloop.core.records import Counts
from factloop.service.errors import error_words
from factloop.service.filtering import JobFilter
from factloop.service.shapes import CheckSummary, Job, Progress
from factloop.service.store import JobStore, StoredJob, new_job_id
from tests.service import postgres

HOSTILE = "\x00 \U0001f600 \u202e'; DROP TABLE factloop_jobs; -- \\ \" é\ud7ff {{7*7}}"
NOW = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)

Open = Callable[[], JobStore]


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with postgres.running() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'jobs.sqlite'}"
    found: str = request.getfixturevalue("postgres_url")
    engine = create_engine(found)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE IF EXISTS factloop_job_texts, factloop_jobs, factloop_format"))
    engine.dispose()
    return found


@pytest.fixture
def store(url: str) -> Iterator[JobStore]:
    opened = JobStore(url)
    yield opened
    opened.close()


def job(owner: str = "", **values: Any) -> StoredJob:
    fields: dict[str, Any] = {"kind": "check", "status": "queued", "title": "t", "created_at": NOW, **values}
    return StoredJob(Job(id=new_job_id(), **fields), owner)


def test_a_job_comes_back_as_it_was(store: JobStore) -> None:
    one = job(title=HOSTILE, error=error_words("x", HOSTILE), progress=Progress(n_claims_found=2))
    store.add(one, request=f'{{"response": "{HOSTILE!r}"}}')
    assert store.get(one.job.id, "") == one
    assert store.text(one.job.id, "request") == f'{{"response": "{HOSTILE!r}"}}'
    assert store.text(one.job.id, "result") is None
    assert store.get(one.job.id, "somebody else") is None
    assert store.get(new_job_id(), "") is None


def test_a_new_state_replaces_the_old_with_its_texts(store: JobStore) -> None:
    one = job()
    store.add(one, "{}")
    summary = CheckSummary(counts=Counts(supported=1), precision=1.0, n_calls=2, cost_usd=None)
    done = one.changed(status="done", finished_at=NOW + timedelta(seconds=1), summary=summary)
    for _ in range(2):  # saved twice is as saved once
        store.save(done, {"events": "[]", "result": "{}" * 500_000})
    assert store.get(one.job.id, "") == done
    assert (store.text(one.job.id, "events"), store.text(one.job.id, "request")) == ("[]", "{}")
    assert store.unfinished() == []


def test_a_deleted_job_stays_deleted(store: JobStore) -> None:
    one = job()
    store.add(one, "{}")
    store.delete(one.job.id)
    store.delete(one.job.id)
    store.save(one.changed(status="done"), {"result": "{}"})
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


def test_what_was_not_finished_is_found_by_the_next_process(url: str) -> None:
    first = JobStore(url)
    jobs = [job(status=status) for status in ("queued", "running", "done", "failed", "cancelled")]
    for one in jobs:
        first.add(one, "{}")
    first.close()
    second = JobStore(url)
    assert [one.job.id for one in second.unfinished()] == [one.job.id for one in jobs[:2]]
    second.close()


def test_it_is_used_from_several_threads(store: JobStore) -> None:
    jobs = [job() for _ in range(40)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda one: store.add(one, "{}"), jobs))
        list(threads.map(lambda one: store.save(one.changed(status="done"), {"result": "{}"}), jobs))
    assert len(store.page("", wanted=JobFilter(status="done"), limit=100)[0]) == 40


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


def test_one_service_has_a_database_at_a_time(url: str) -> None:
    one, other = JobStore(url), JobStore(url)
    with one.held():
        with pytest.raises(ConfigError, match="another service is at work with it"), other.held():
            pytest.fail("two have it")
        one.add(job(), request="{}")  # its own work goes on
    with other.held():
        assert len(other.unfinished()) == 1
    for store in (one, other):
        store.close()


def test_databases_in_memory_are_nobody_elses() -> None:
    one, other = JobStore("sqlite://"), JobStore("sqlite://")
    with one.held(), other.held():
        pass
    for store in (one, other):
        store.close()
