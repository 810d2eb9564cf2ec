from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, text

from factloop.entrance.keys import ApiKeys
from factloop.service.access import OF_ONE_KEY, SharedHits
from factloop.service.store import JobStore
from tests.service.asking import ASK, Service

pytestmark = [pytest.mark.postgres, pytest.mark.parametrize("url", ["postgresql"], indirect=True)]
KEYS = ApiKeys(["a-key-of-sixteen-letters", "another-key-of-that-length"])
GOOD = {"Authorization": "Bearer a-key-of-sixteen-letters"}
OTHER = {"Authorization": "Bearer another-key-of-that-length"}
WRONG = {"Authorization": "Bearer wrong"}


@asynccontextmanager
async def two(
    service: Service, url: str, home: Path, **changes: Any
) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    async with AsyncExitStack() as opened:
        yield tuple(  # type: ignore[misc]  # of two
            [
                await opened.enter_async_context(service(database=url, folder=home / name, **changes))
                for name in ("one", "another")
            ]
        )


async def test_a_caller_without_key_has_one_rate(service: Service, url: str, home: Path) -> None:
    async with two(service, url, home, rate="3/hour") as (one, other):
        asked = [(await client.post("/v1/checks", json=ASK)).status_code for client in (one, other, one, other, one)]
        jobs = (await one.get("/v1/jobs")).json()["jobs"]
        refused = await other.post("/v1/checks", json=ASK)
    assert asked == [202, 202, 202, 429, 429]
    assert len(jobs) == 3
    assert 0 < int(refused.headers["Retry-After"]) <= 3601


async def test_wrong_keys_are_counted_together(service: Service, url: str, home: Path) -> None:
    async with two(service, url, home, keys=KEYS) as (one, other):
        tried = [
            (await (one, other)[n % 2].get("/v1/info", headers=WRONG)).status_code for n in range(OF_ONE_KEY.amount + 2)
        ]
        good = [(await client.get("/v1/info", headers=GOOD)).status_code for client in (one, other)]
    assert tried == [401] * OF_ONE_KEY.amount + [429, 429]
    assert good == [200, 200]


async def test_hits_say_nothing_of_callers_and_are_forgotten(service: Service, url: str, home: Path) -> None:
    async with two(service, url, home, keys=KEYS) as (one, _):
        await one.get("/v1/info", headers=WRONG)
    store = JobStore(url)
    hits = SharedHits(store.engine)
    assert hits.take("short", 1, 0.0) == 0.0
    assert 0.0 < hits.take("long", 1, 60.0) + hits.take("long", 1, 60.0) <= 60.0
    hits.forget()
    with store.engine.connect() as connection:
        names = list(connection.scalars(text("SELECT whose FROM factloop_hits ORDER BY whose")))
    store.close()
    assert "short" not in names
    assert "long" in names
    assert all(len(name) == 64 and set(name) <= set("0123456789abcdef") for name in names if name != "long")
    assert len(names) == 3


async def test_while_the_database_is_away_each_counts_for_itself(service: Service, url: str, home: Path) -> None:
    async with service(database=url, keys=KEYS, folder=home / "one") as client:
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE factloop_hits RENAME TO elsewhere"))
        tried = [
            (await client.get("/v1/info", headers=WRONG)).status_code for _ in range(OF_ONE_KEY.amount + 1)
        ]  # fmt: skip
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE elsewhere RENAME TO factloop_hits"))
        engine.dispose()
    assert tried == [401] * OF_ONE_KEY.amount + [429]
