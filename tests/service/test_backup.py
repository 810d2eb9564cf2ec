from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from factloop.core.errors import ConfigError
from factloop.entrance.serving import sqlite_url
from factloop.service.backup import copy_jobs
from factloop.service.leases import Leases
from factloop.service.store import JobStore
from factloop.service.tables import FORMATS, METADATA
from tests.cli.command import build_command
from tests.service.asking import ASK, Service, finished
from tests.service.test_store import job


def rows_of(url: str) -> dict[str, list[Any]]:
    store = JobStore(url)
    with store.engine.connect() as connection:
        found = {
            table.name: sorted(connection.execute(select(table)).all(), key=str)
            for table in METADATA.sorted_tables
            if table is not FORMATS
        }
    store.close()
    return found


async def test_nothing_is_lost(service: Service, url: str, tmp_path: Path) -> None:
    backup = sqlite_url(tmp_path / "50% of it.sqlite")
    async with service(database=url) as client:
        kept = [
            (await client.post("/v1/checks", json=ASK, headers={"Idempotency-Key": f"k{n}"})).json() for n in range(45)
        ]
        done = await finished(client, kept[0]["id"])
        label = {"label": "supported", "comment": "\x00 é"}
        claim = (await client.get(f"/v1/jobs/{done['id']}/result")).json()["claims"][0]["id"]
        assert (await client.put(f"/v1/jobs/{done['id']}/labels/{claim}", json=label)).status_code == 200
        reports = {one["id"]: (await client.get(f"/v1/jobs/{one['id']}/result")).text for one in kept[:1]}
        assert copy_jobs(url, backup) == len(kept), "it runs meanwhile"
    before = rows_of(backup)
    with pytest.raises(ConfigError, match="already contains jobs"):
        copy_jobs(backup, url)
    store = JobStore(url)
    for one in kept:
        store.delete(one["id"])
    store.close()
    assert copy_jobs(backup, url) == len(kept)
    assert rows_of(url) == before
    async with service(database=url) as client:
        for one in kept:
            assert (await finished(client, one["id"]))["status"] == "done"
        assert (await client.get(f"/v1/jobs/{done['id']}/result")).text == reports[done["id"]]
        labels = (await client.get(f"/v1/jobs/{done['id']}/labels")).json()
        again = await client.post("/v1/checks", json=ASK, headers={"Idempotency-Key": "k0"})
    assert "\x00 é" in json.dumps(labels, ensure_ascii=False).replace("\\u0000", "\x00")
    assert again.json()["id"] == done["id"]


def test_a_job_at_work_goes_on_elsewhere(tmp_path: Path, url: str) -> None:
    source = sqlite_url(tmp_path / "a.sqlite")
    store = JobStore(source)
    store.add(job(), "{}")
    assert len(Leases(store, 60.0).take(1, lapsed=False)) == 1
    store.close()
    copy_jobs(source, url)
    moved = JobStore(url)
    assert len(Leases(moved, 60.0).take(1, lapsed=True)) == 1
    moved.close()


def test_backups_only_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    factloop, place = build_command(monkeypatch, capsys), tmp_path / "place"
    missing = factloop("backup", tmp_path / "jobs.backup", "--folder", place)
    assert (missing.code, list(tmp_path.iterdir())) == (2, [])
    assert missing.complaint.endswith("place/jobs.sqlite")
    place.mkdir()
    source = place / "jobs.sqlite"
    store = JobStore(sqlite_url(source))
    store.add(job(), "{}")
    store.close()
    written = source.read_bytes()
    assert factloop("backup", tmp_path / "jobs.backup", "--folder", place).code == 0
    assert source.read_bytes() == written
    assert sorted(one.name for one in tmp_path.iterdir()) == ["jobs.backup", "place"]
    assert [one.name for one in place.glob("*.lock")] == []
    copy_jobs(sqlite_url(tmp_path / "jobs.backup"), sqlite_url(tmp_path / "b.sqlite"))
    assert len(rows_of(sqlite_url(tmp_path / "b.sqlite"))["factloop_jobs"]) == 1


def test_a_database_that_is_in_use_is_not_restored_into(tmp_path: Path) -> None:
    source, target = (sqlite_url(tmp_path / name) for name in ("a.sqlite", "b.sqlite"))
    store = JobStore(source)
    store.add(job(), "{}")
    store.close()
    at_work = JobStore(target)
    with at_work.held(), pytest.raises(ConfigError, match="is in use by another service"):
        copy_jobs(source, target)
    at_work.close()
