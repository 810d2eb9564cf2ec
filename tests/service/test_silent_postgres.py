from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from factloop.core.errors import ConfigError
from factloop.service.errors import RequestRefusal
from factloop.service.kept import Database
from factloop.service.store import JobStore, Room
from factloop.service.tables import hold_others_off
from tests.service import postgres
from tests.service.postgres import PostgresServer
from tests.service.silent_postgres import between, greets, listening, says_nothing
from tests.service.test_store import job

SILENT_S = 1.0

pytest.importorskip("psycopg", reason="the extra factloop[postgres] is not installed")


@pytest.mark.parametrize(
    ("at_each", "said"),
    [(says_nothing, "connection timeout expired"), (greets, "no answer within 1 s")],
    ids=["from the first byte", "from the first statement"],
)
def test_a_start_ends_in_one_line(at_each: Callable[[socket.socket], None], said: str) -> None:
    with listening(at_each) as url, pytest.raises(ConfigError) as caught:
        JobStore(f"{url}?connect_timeout=2", silent_s=SILENT_S)
    line = str(caught.value)
    assert line.endswith(f"/jobs?connect_timeout=2: {said}")
    assert ("\n" in line, "secret-word" in line) == (False, False)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres.running() as started:
        yield started


@pytest.mark.postgres
async def test_a_service_that_froze_holds_the_others_up_for_a_while(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = "set_config('lock_timeout', '50', true), set_config('idle_in_transaction_session_timeout', '500', true)"
    monkeypatch.setattr("factloop.service.database._BOUNDS", f"SELECT {bounds}")
    database = Database(JobStore(server.url))

    async def add() -> None:
        await database.ask(database.store.add, job(), "{}", room=Room("any", 100))

    with database.store.engine.connect() as frozen:
        hold_others_off(frozen, "add a job")
        with pytest.raises(RequestRefusal):
            await add()
        assert not database.is_in_trouble, "the database works"
        async with asyncio.timeout(10.0):
            while isinstance((await asyncio.gather(add(), return_exceptions=True))[0], RequestRefusal):
                pass
        frozen.invalidate()
    await database.aclose()


@pytest.mark.postgres
async def test_a_service_refuses_meanwhile_and_goes_on_when_it_speaks_again(
    server: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    with between(server.url) as (url, relay):
        database = Database(JobStore(f"{url}?connect_timeout=2", silent_s=SILENT_S))
        await database.ask(database.store.probe)
        relay.speaking.clear()
        with pytest.raises(RequestRefusal) as refused:
            await database.ask(database.store.probe)
        assert refused.value.status == 503
        assert "the database failed: connection timeout expired" in caplog.text  # a connection it has is tried first
        relay.speaking.set()
        await database.ask(database.store.probe)
        assert "the database is available again" in caplog.text
        await database.aclose()


@pytest.mark.postgres
def test_a_late_answer_is_not_taken_for_another_statement_s(server: PostgresServer) -> None:
    store = JobStore(server.url, silent_s=SILENT_S)
    with store.engine.connect() as connection, pytest.raises(OperationalError, match="no answer within"):
        connection.execute(text("SELECT 1, pg_sleep(3)"))
    with store.engine.connect() as connection:
        assert connection.scalar(text("SELECT 2")) == 2
    store.close()
