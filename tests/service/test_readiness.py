from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from errno import ENOSPC
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import event

from factloop.core.errors import ConfigError, NoPlaceToKeep, ToolTimeout
from factloop.service import running
from factloop.service.database import LOG_BYTES
from factloop.service.jobs import Readiness
from factloop.service.store import JobStore, StoredJob, new_job
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.cache import CallCache
from factloop.trust.settings import TrustSettings
from tests.service.asking import ASK, Service, answered, events_in, finished
from tests.simulator import MODEL, Simulator


async def ready(client: httpx.AsyncClient, status: int) -> list[str]:
    """The components in trouble once `/ready` has this status."""
    answer = await answered(client, "/ready", status)
    assert (await client.get("/health")).status_code == 200
    return [trouble["what"] for trouble in answer.json()["troubles"]]


async def test_a_locked_database_is_told_and_what_ends_meanwhile_is_saved_later(service: Service, home: Path) -> None:
    async with service() as client:
        assert await ready(client, 200) == []
        job = (await client.post("/v1/checks", json=ASK)).json()["id"]
        with sqlite3.connect(home / "service" / "jobs.sqlite", isolation_level=None) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert await ready(client, 503) == ["database"]
            other.execute("ROLLBACK")
        other.close()
        assert await ready(client, 200) == []
        assert (await finished(client, job))["status"] == "done"


class TakesJobs:
    is_stopping = False

    async def probe(self) -> None: ...


async def test_it_is_ready_once_it_is_warm_which_is_tried_again(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    tries = [asyncio.Event(), asyncio.Event()]
    left = iter(tries)

    async def warm_up() -> None:
        mine = next(left)
        await mine.wait()
        if mine is tries[0]:
            raise ToolTimeout(tool="judge", timeout_s=5.0)

    readiness = Readiness(TakesJobs(), home, warm_up, again_s=0.0)  # type: ignore[arg-type]  # all that it asks of jobs
    assert [trouble.what for trouble in await readiness.troubles()] == ["warm_up"]
    tries[0].set()
    while "judge" not in str(await readiness.troubles()):  # noqa: ASYNC110 - it looks once a second
        await asyncio.sleep(0.1)
    assert "judge" in caplog.text
    tries[1].set()
    await readiness.warming
    while await readiness.troubles():  # noqa: ASYNC110 - it looks once a second
        await asyncio.sleep(0.1)


def put_another(file: Path) -> None:
    with sqlite3.connect(file.with_name("other.sqlite")) as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    shutil.move(file.with_name("other.sqlite"), file)


@pytest.mark.parametrize(
    "harm",
    [
        Path.unlink,
        lambda file: file.write_bytes(b"not a database" * 1_000),
        lambda file: file.write_bytes(b""),
        put_another,
        lambda file: shutil.copyfile(file.with_name("backup"), file),
    ],
)
async def test_a_file_that_was_replaced_is_noticed(
    service: Service, home: Path, harm: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    file = home / "service" / "jobs.sqlite"
    async with service():
        pass  # an earlier run, whose file is kept
    shutil.copyfile(file, file.with_name("backup"))
    async with service() as client:
        job = (await client.post("/v1/checks", json=ASK)).json()["id"]
        await finished(client, job)
        harm(file)
        refused = await client.post("/v1/checks", json=ASK)
        assert await ready(client, 503) == ["database"]
    assert (refused.status_code, refused.json()["error"]["type"]) == (503, "not_kept")
    told = [message for message in caplog.messages if "replaced while the service was running" in message]
    assert len(told) == 1


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file system of four megabytes, or of the parameter's size."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={getattr(request, 'param', 4)}m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as filler:
        while filler.write(b"x" * 4_096):
            pass


@pytest.mark.process
async def test_a_full_disk_is_told(service: Service, small_disk: Path) -> None:
    async with service(folder=small_disk / "service") as client:
        assert await ready(client, 200) == []
        ids = [(await client.post("/v1/checks", json=ASK)).json()["id"] for _ in range(3)]
        for one in ids:
            assert (await finished(client, one))["status"] == "done"
        fill(small_disk / "filler")
        while await ready(client, 503) != ["database", "folder"]:  # what SQLite had room for before is written first
            await client.post("/v1/checks?wait=true", json=ASK)
        assert (await client.post("/v1/checks?wait=true", json=ASK)).status_code == 503
        for one in ids:
            assert (await client.delete(f"/v1/jobs/{one}")).status_code == 200, "the reserve is for that"
            fill(small_disk / "filler again")
        (small_disk / "filler").unlink()
        (small_disk / "filler again").unlink()
        assert await ready(client, 200) == []
        assert (await client.post("/v1/checks?wait=true", json=ASK)).status_code == 200


async def test_a_job_waits_until_its_answers_can_be_saved(
    service: Service, home: Path, sim: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls whose answers were lost still count, and each event is sent once. A permission error is not a full disk."""
    tried, put = count(1), CallCache.put

    def put_or_fail(self: CallCache, *args: Any, **options: Any) -> None:
        if next(tried) <= 2:
            raise NoPlaceToKeep("no space") from OSError(ENOSPC, "no space")
        put(self, *args, **options)

    monkeypatch.setattr(CallCache, "put", put_or_fail)
    monkeypatch.setattr(running, "LONGEST_PAUSE_S", 0.5)
    check = CheckSettings(model=MODEL, base_url=sim.base_url, cache=False, max_calls=90)
    async with service(check, TrustSettings(max_calls=90), max_calls_per_day=300) as client:
        refused = await client.post("/v1/checks?wait=true", json=ASK)
        job_id = refused.headers["Location"].rpartition("/")[2]
        assert (refused.status_code, refused.json()["error"]["type"]) == (503, "not_kept")
        assert job_id in refused.json()["error"]["message"]
        done = await finished(client, job_id)
        events = events_in((await client.get(f"/v1/jobs/{job_id}/events")).text)
        (home / "service" / "journals").rmdir()
        (home / "service" / "journals").write_text("no folder can be made below this", encoding="utf-8")
        assert (await client.post("/v1/checks?wait=true", json=ASK)).json()["error"]["type"] != "not_kept"
    with closing(sqlite3.connect(home / "service" / "jobs.sqlite")) as database:
        counted = database.execute(f"SELECT calls FROM factloop_spending WHERE job_id = '{job_id}'").fetchall()
    assert (done["status"], counted, sim.stats().model.requests) == ("done", [(1,)] * 3, 3)
    assert [type for type, *_ in events].count("claim_found") == done["progress"]["n_claims_found"]


@pytest.mark.process
@pytest.mark.parametrize("left", [0, 32_768], ids=["no space", "only for what SQLite shares"])
async def test_a_start_on_a_full_disk_is_a_wrong_set_up(service: Service, small_disk: Path, left: int) -> None:
    async with service(folder=small_disk / "service"):
        pass
    fill(small_disk / "filler")
    os.truncate(small_disk / "filler", (small_disk / "filler").stat().st_size - left)
    with pytest.raises(ConfigError, match=r"cannot use --database .*jobs\.sqlite.*free some space"):
        async with service(folder=small_disk / "service"):
            pass


@pytest.mark.process
@pytest.mark.parametrize("small_disk", [48], indirect=True)
def test_large_jobs_are_deleted_from_a_full_disk(small_disk: Path) -> None:
    file = small_disk / "jobs.sqlite"
    with closing(JobStore(f"sqlite:///{file}", most_bytes=1_000_000)) as store, store.held():
        jobs = [new_job("check", "Who?") for _ in range(12)]
        for job in jobs:
            store.add(StoredJob(job, "me"), "x" * 1_000_000)
        for n, job in enumerate(jobs):
            fill(small_disk / f"filler {n}")
            store.delete(job.id)
        assert (small_disk / "jobs.sqlite-reserve").stat().st_size == LOG_BYTES + 2 * 1_000_000
    assert not (small_disk / "jobs.sqlite-reserve").exists()


@pytest.mark.process
@pytest.mark.parametrize("small_disk", [48], indirect=True)
def test_a_killed_service_starts_again_on_a_full_disk(small_disk: Path) -> None:
    job, left = new_job("check", "Who?"), small_disk / "left"
    with closing(JobStore(f"sqlite:///{small_disk}/jobs.sqlite", most_bytes=1_000_000)) as store, store.held():
        store.add(StoredJob(job, "me"), "x" * 1_000_000)
        left.mkdir()
        for name in ("jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite-reserve"):
            shutil.copy(small_disk / name, left)
    fill(small_disk / "filler")
    with closing(JobStore(f"sqlite:///{left}/jobs.sqlite", most_bytes=1_000_000)) as store, store.held():
        assert store.text(job.id, "request") == "x" * 1_000_000
        assert (left / "jobs.sqlite-reserve").stat().st_size > LOG_BYTES
        store.delete(job.id)


async def test_what_waits_is_told_where_the_database_can_only_be_read(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """As on a full disk: reading works, so nothing else shows that no job can start."""
    async with service(max_jobs=1) as client:
        database = client._transport.app.state.context.opened.jobs._database  # type: ignore[attr-defined]

        only_read = 0

        def open_to_read(connection: Any, *_: object) -> None:
            connection.execute(f"PRAGMA query_only = {only_read}")

        event.listen(database.store.engine, "checkout", open_to_read)
        long = {**ASK, "response": " ".join(f"Ada Lovelace met {n} people in London." for n in range(200))}
        first = (await client.post("/v1/checks", json=long)).json()["id"]
        waiting = asyncio.create_task(client.post("/v1/checks?wait=true", json=ASK))
        while len((await client.get("/v1/jobs")).json()["jobs"]) < 2:  # noqa: ASYNC110 - it is asked as callers ask
            await asyncio.sleep(0.01)
        only_read = 1
        assert await ready(client, 503) == ["database"]
        assert ((await waiting).status_code, waiting.result().json()["error"]["type"]) == (503, "not_kept")
        for _ in range(5):
            assert (await client.get("/v1/jobs")).status_code == 200
            assert (await client.post("/v1/checks", json=ASK)).status_code == 503
        only_read = 0
        assert await ready(client, 200) == []
        assert (await finished(client, first))["status"] == "done"
    assert caplog.text.count("the database failed") == caplog.text.count("the database is available again") == 1
