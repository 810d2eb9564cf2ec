"""Jobs are forgotten by age: by the service after some days, and by their owner."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import Job
from factloop.service.store import JobStore, StoredJob, first_id_of
from tests.service.asking import ASK, Service, answered, finished


def keep_an_old_job(home: Path, days: int, **values: object) -> str:
    """The id of a job that was made some days ago, in the service's database."""
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


def test_days_are_greater_than_nothing() -> None:
    with pytest.raises(ConfigError, match="--keep-days 0"):
        ServiceSettings(keep_days=0.0)
