"""`/ready` looks at what the service needs; a SQLite file that is no longer the one it opened is noticed."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from factloop.core.errors import ToolTimeout
from factloop.service.jobs import Readiness
from tests.service.asking import ASK, Service, answered, finished


async def ready(client: httpx.AsyncClient, status: int) -> list[str]:
    """What is in trouble, once `/ready` has this status."""
    answer = await answered(client, "/ready", status)
    assert (await client.get("/health")).status_code == 200
    return [trouble["what"] for trouble in answer.json()["troubles"]]


async def test_a_locked_database_is_told_and_what_ends_meanwhile_is_saved_afterwards(
    service: Service, home: Path
) -> None:
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


def delete(file: Path) -> None:
    file.unlink()


def overwrite(file: Path) -> None:
    file.write_bytes(b"not a database" * 1_000)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def put_another(file: Path) -> None:
    with sqlite3.connect(file.with_name("other.sqlite")) as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    shutil.move(file.with_name("other.sqlite"), file)


def put_a_backup(file: Path) -> None:
    shutil.copyfile(file.with_name("backup"), file)


@pytest.mark.parametrize("harm", [delete, overwrite, empty, put_another, put_a_backup])
async def test_a_file_that_was_replaced_is_noticed(
    service: Service, home: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
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
    told = [message for message in caplog.messages if "was deleted or replaced while the service ran" in message]
    assert len(told) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(file: Path) -> None:
    """Writes until the disk is full."""
    with suppress(OSError), file.open("wb", buffering=0) as filler:
        while filler.write(b"x" * 4_096):
            pass


@pytest.mark.process
async def test_a_full_disk_is_told(service: Service, small_disk: Path) -> None:
    async with service(folder=small_disk / "service") as client:
        assert await ready(client, 200) == []
        fill(small_disk / "filler")
        assert "folder" in await ready(client, 503)
        (small_disk / "filler").unlink()
        assert await ready(client, 200) == []
        assert (await client.post("/v1/checks?wait=true", json=ASK)).status_code == 200
