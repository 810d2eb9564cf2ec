from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from factloop import FactChecker, TrustScorer
from factloop.service.jobs import Jobs
from factloop.service.kept import Database
from factloop.service.metrics import Metrics
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import Job
from factloop.service.spending import Cost, DayLimits
from factloop.service.store import JobStore, StoredJob, first_id_of
from factloop.service.work import Library, Work
from tests.service.asking import ASK, FINISHED_WITHIN_S, Service, answered, finished


def keep_an_old_job(home: Path, days: int, **values: object) -> str:
    made = datetime.now(UTC) - timedelta(days=days)
    (home / "service").mkdir(exist_ok=True)
    store = JobStore(f"sqlite:///{home / 'service' / 'jobs.sqlite'}")
    fields = {"kind": "check", "status": "done", "title": "old", "created_at": made, **values}
    job = Job.model_validate({"id": first_id_of(made), **fields})
    store.add(StoredJob(job, ""), "{}")
    store.close()
    return job.id


async def test_a_service_forgets_what_it_kept_long_enough(service: Service, home: Path) -> None:
    old, recent = keep_an_old_job(home, days=31), keep_an_old_job(home, days=29)
    async with service(keep_days=30.0) as client:
        await answered(client, f"/v1/jobs/{old}", 404)
        assert (await client.get(f"/v1/jobs/{recent}")).status_code == 200
    async with service() as client:
        assert [job["id"] for job in (await client.get("/v1/jobs")).json()["jobs"]] == [recent]


async def test_an_owner_deletes_by_age(service: Service, home: Path) -> None:
    old = keep_an_old_job(home, days=8)
    async with service() as client:
        new = (await client.post("/v1/checks", json=ASK)).json()["id"]
        await finished(client, new)
        missing = await client.delete("/v1/jobs")
        wrong = await client.delete("/v1/jobs?older_than_days=-1")
        assert (await client.delete("/v1/jobs?older_than_days=7")).json() == {"n_jobs": 1}
        assert (await client.get(f"/v1/jobs/{old}")).status_code == 404
        assert (await client.get(f"/v1/jobs/{new}")).status_code == 200
        assert (await client.delete("/v1/jobs?older_than_days=0")).json() == {"n_jobs": 1}
    assert missing.json()["error"]["field"] == wrong.json()["error"]["field"] == "older_than_days"


async def test_a_job_that_is_deleted_meanwhile_is_not_found(service: Service, home: Path) -> None:
    gone = keep_an_old_job(home, days=1)
    async with service() as client:
        answers = [await client.get(f"/v1/jobs/{gone}/{page}") for page in ("result", "report.html", "labels")]
    assert [answer.status_code for answer in answers] == [404] * 3


async def test_journals_of_jobs_that_ended_elsewhere_are_removed(service: Service, home: Path) -> None:
    ended = keep_an_old_job(home, days=1)
    journals = home / "service" / "journals"
    for name in (ended, "f" * 32):
        (journals / name).mkdir(parents=True)
    async with service():
        for _ in range(1_000):
            await asyncio.sleep(0 if not (journals / ended).exists() else 0.01)
    assert not (journals / ended).exists()
    assert (journals / ("f" * 32)).exists(), "it may be of another database"


class FailingStore(JobStore):
    """Raises one unexpected error in each of its two lookups for old data."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.failures: list[Exception] = [OverflowError("date value out of range"), OSError("a folder is closed")]

    def finished(self, job_ids: Sequence[str]) -> set[str]:
        if len(self.failures) == 2:
            raise self.failures.pop()
        return super().finished(job_ids)

    def forget_repeats(self, hours: float) -> None:
        if self.failures:
            raise self.failures.pop()
        super().forget_repeats(hours)


async def test_a_sweep_that_fails_is_told_and_the_next_one_comes(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    old = keep_an_old_job(home, days=31)
    store = FailingStore(f"sqlite:///{home / 'service' / 'jobs.sqlite'}")
    work = Work(FactChecker(cache=False), TrustScorer(cache=False), Library({}))
    jobs = Jobs(
        Database(store),
        work,
        home / "journals",
        Metrics({}),
        ServiceSettings(max_jobs=1, max_queued=1, keep_days=30.0),
        DayLimits(Cost(), Cost()),
        sweep_every_s=0.0,
    )
    await jobs.start()
    async with asyncio.timeout(FINISHED_WITHIN_S):
        while await jobs.get(old, "") is not None:  # noqa: ASYNC110 - another task deletes it
            await asyncio.sleep(0.01)
    await jobs.aclose()
    await work.aclose()
    told = [record.exc_info[0] for record in caplog.records if record.exc_info]
    assert told == [OSError, OverflowError]
