from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from factloop.core.errors import ToolError
from factloop.service.evaluation import audit
from factloop.service.store import JobStore
from factloop.setup.settings import CheckSettings
from tests.rights import open_to_others
from tests.service.asking import Service

pytestmark = [pytest.mark.usefixtures("widest_umask"), pytest.mark.skipif(os.name != "posix", reason="rights")]


async def test_its_folder(service: Service, home: Path, docs: Path) -> None:
    asked = {"response": "Ada Lovelace was born in London.", "mode": "factuality"}
    async with service(CheckSettings(docs=(str(docs),), cache_dir=home / "cache")) as client:
        answer = await client.post("/v1/checks?wait=true", json=asked)
        assert answer.status_code == 200
        assert (home / "service" / "jobs.sqlite-wal").exists()
        assert open_to_others(home / "service") == []
        assert open_to_others(home / "cache") == []


def test_a_database_elsewhere_also_where_it_was_not(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    with closing(JobStore(f"sqlite:///{path}")) as store, store.held():
        assert {item.name for item in tmp_path.iterdir()} >= {"jobs.db", "jobs.db-wal", "jobs.db-shm", "jobs.db.lock"}
        assert set(open_to_others(tmp_path)) <= {"."}
        for item in tmp_path.iterdir():
            item.chmod(0o666)
    with closing(JobStore(f"sqlite:///{path}")):
        assert path.stat().st_mode & 0o777 == 0o600


async def test_the_rows_of_an_audit(tmp_path: Path) -> None:
    with pytest.raises(ToolError):
        await audit(b"{}", tmp_path)
    assert set(open_to_others(tmp_path)) <= {"."}
