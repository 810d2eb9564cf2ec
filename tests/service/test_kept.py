from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError, OperationalError

from factloop.service.errors import RequestRefusal
from factloop.service.kept import Database
from factloop.service.store import JobStore

AT_ONCE = 5
WITHIN_S = 10.0


class SlowStatement:
    def __init__(self) -> None:
        self.n_asked = 0
        self.error: Exception | None = None
        self.began, self._end = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.n_asked += 1
        self.began.set()
        self._end.wait(WITHIN_S)
        if self.error is not None:
            raise self.error
        return "a row"

    def end(self, error: Exception | None = None) -> None:
        self.error = error
        self._end.set()


def away() -> OperationalError:
    return OperationalError("SELECT 1", {}, Exception("database is locked"))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(JobStore(f"sqlite:///{tmp_path / 'jobs.sqlite'}"))
    yield database
    await database.aclose()


async def begun(statement: SlowStatement) -> None:
    assert await asyncio.to_thread(statement.began.wait, WITHIN_S)


async def refused(tasks: list[asyncio.Task[str]]) -> None:
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(answer) for answer in answers] == [RequestRefusal] * len(tasks)


async def test_calls_behind_one_that_fails_are_refused_without_asking(database: Database) -> None:
    first, behind = SlowStatement(), SlowStatement()
    behind.end()
    tasks = [asyncio.create_task(database.ask(first))]
    await begun(first)
    tasks += [asyncio.create_task(call(behind)) for call in (database.ask, database.save) for _ in range(AT_ONCE)]
    await asyncio.sleep(0)
    first.end(away())
    await refused(tasks)
    assert (first.n_asked, behind.n_asked) == (1, 0)


async def test_while_the_database_is_away_one_call_at_a_time_asks_it(database: Database) -> None:
    for _ in range(2):
        trial, other = SlowStatement(), SlowStatement()
        with pytest.raises(RequestRefusal):
            await database.ask(_fail)
        tried = asyncio.create_task(database.ask(trial))
        await begun(trial)
        await refused([asyncio.create_task(database.ask(other)) for _ in range(AT_ONCE)])
        assert not tried.done()  # the others did not wait for it
        trial.end(away())
        await refused([tried])
        assert (trial.n_asked, other.n_asked) == (1, 0)
    assert await database.ask(lambda: "a row") == "a row"
    await database.ask(database.store.probe)
    assert database.in_touch_s > 0


async def test_what_must_be_saved_waits_for_the_call_that_tries(database: Database) -> None:
    with pytest.raises(RequestRefusal):
        await database.ask(_fail)
    trial, end = SlowStatement(), SlowStatement()
    end.end()
    tried = asyncio.create_task(database.ask(trial))
    await begun(trial)
    saved = [asyncio.create_task(database.save(end)) for _ in range(AT_ONCE)]
    await asyncio.sleep(0)
    trial.end()
    assert await asyncio.gather(tried, *saved) == ["a row"] * (1 + AT_ONCE)


async def test_lists_of_jobs_delay_nothing_else(database: Database) -> None:
    reading, end = threading.Event(), threading.Event()

    def wait(*_: object) -> None:
        if threading.current_thread().name.startswith("factloop-apart"):
            reading.set()
            end.wait(WITHIN_S)

    event.listen(database.store.engine, "before_cursor_execute", wait)
    lists = [asyncio.create_task(database.ask(database.store.page, owner, limit=1)) for owner in "abc"]
    assert await asyncio.to_thread(reading.wait, WITHIN_S)
    await database.ask(database.store.probe)
    assert not any(one.done() for one in lists)
    end.set()
    assert await asyncio.gather(*lists) == [([], None)] * 3


FULL = sqlite3.OperationalError("database or disk is full")
FULL.sqlite_errorcode = sqlite3.SQLITE_FULL
FAULTS = OperationalError("DELETE", {}, FULL), IntegrityError("INSERT", {}, Exception("UNIQUE constraint failed"))


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_fault_of_one_statement_refuses_no_other(database: Database, fault: Exception) -> None:
    first, behind = SlowStatement(), SlowStatement()
    behind.end()
    wrong = asyncio.create_task(database.ask(first))
    await begun(first)
    others = [asyncio.create_task(database.ask(behind)) for _ in range(AT_ONCE)]
    await asyncio.sleep(0)
    first.end(fault)
    await refused([wrong])
    assert await asyncio.gather(*others) == ["a row"] * AT_ONCE


@pytest.mark.parametrize(("quiet_s", "n_logged"), [(60.0, 1), (0.0, 3)])
async def test_an_outage_is_logged_once_and_the_next_one_not_too_soon(
    database: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, quiet_s: float, n_logged: int
) -> None:
    monkeypatch.setattr("factloop.service.kept.QUIET_S", quiet_s)
    for _ in range(3):
        for said in ("no space for a", "no space for b"):
            with pytest.raises(RequestRefusal):
                await database.save(_fail, said)
        await database.save(database.store.probe)
    assert caplog.messages == ["the database failed: no space for a", "the database is available again"] * n_logged


def _fail(said: str = "database is locked") -> str:
    raise OperationalError("SELECT 1", {}, Exception(said))
