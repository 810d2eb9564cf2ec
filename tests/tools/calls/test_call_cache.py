from __future__ import annotations

import asyncio
import sqlite3
import zlib
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.tools.calls.cache import CacheBounds, CallCache, StoredAnswer

WIDE = CacheBounds(max_bytes=1_000_000_000, max_age_s=86_400.0)


@pytest.mark.parametrize("statement", ["PRAGMA user_version=99", "CREATE TABLE mine (x)"])
def test_a_database_of_somebody_else_is_refused_and_left_alone(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "other.sqlite"
    other = sqlite3.connect(path)
    other.execute(statement)
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=r"other\.sqlite was created by another program or version"):
        CallCache(path)
    assert path.read_bytes() == before


def test_a_file_damaged_while_in_use_is_a_config_error(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    cache = CallCache(path)
    with sqlite3.connect(path) as other:
        other.execute("DROP TABLE answers")
    other.close()
    with pytest.raises(ConfigError, match=r"cannot store answers in"):
        cache.put("key", 1)
    with pytest.raises(ConfigError, match=r"cannot store answers in"):
        cache.get("key")
    cache.close()


def checked(text: str) -> str:
    return f"'#{zlib.crc32(f'key {text}'.encode()):08x}{text}'"


UNBOUNDED = '{"prompt_tokens": 1, "completion_tokens": 1, "approximate": false, "cost_usd": Infinity}'
OF_ANOTHER_KEY = "(SELECT value FROM answers WHERE key = 'other')"
EDITED = [OF_ANOTHER_KEY, "''", "'{'", "7", "x'fffe'", "CAST(x'23ff' AS TEXT)", "'5'", "replace(value, 'is', 'is not')"]
OF_ANOTHER_SHAPE = [checked("{"), checked("[" * 100_000), checked("9" * 5_000), checked("5")]


@pytest.mark.parametrize("value", [*EDITED, *OF_ANOTHER_SHAPE], ids=lambda value: value[:30])
def test_an_answer_that_was_damaged_is_a_config_error(tmp_path: Path, value: str) -> None:
    path = tmp_path / "calls.sqlite"
    cache = CallCache(path)
    cache.put("key", "it is supported")
    cache.put("other", "it is not supported")
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE answers SET value = {value} WHERE key = 'key'")
    with pytest.raises(ConfigError, match=r"calls.sqlite .the stored answer key is damaged"):
        cache.get("key", read=lambda found: found["reply"])
    cache.close()


def test_an_answer_written_at_no_time_is_asked_for_again(tmp_path: Path) -> None:
    with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
        cache.put("key", "it is supported")
        for written, oldest in (("9e999", 4e9), ("'abc'", 0.0)):
            cache._execute(f"UPDATE answers SET written = {written}", ())
            assert cache.held() == (1, oldest)
        assert cache.get("key", newer_than_s=60.0) is None


@pytest.mark.parametrize("cost", ["usd = 9e999", "usd = -1", "usd = 'abc'", "calls = 9e999", "calls = -1"])
@pytest.mark.parametrize("table", ["answers", "sent"])
def test_a_damaged_cost_is_a_config_error(tmp_path: Path, table: str, cost: str) -> None:
    with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
        cache.put("key", "it is supported", calls=1, usd=0.5)
        cache.note_sent("key", {}, calls=1, usd=0.25)
        assert cache.paid() == (2, 0.75)
        cache._execute(f"UPDATE {table} SET {cost}", ())
        with pytest.raises(ConfigError, match="the stored answer key is damaged"):
            cache.paid()


@pytest.mark.parametrize("cost", ["5", "{}", '{"prompt_tokens": "5"}', "null", UNBOUNDED])
def test_the_cost_of_a_request_that_was_damaged_is_a_config_error(tmp_path: Path, cost: str) -> None:
    path = tmp_path / "calls.sqlite"
    with closing(CallCache(path)) as cache:
        cache.note_sent("key", {}, calls=1, usd=0.5)
        cache._execute(f"UPDATE sent SET cost = {checked(cost)}", ())
    with pytest.raises(ConfigError, match="the stored answer key is damaged"):
        CallCache(path)


async def test_a_file_that_another_process_writes_holds_up_no_event_loop(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    cache, other = CallCache(path, WIDE), sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    putting = asyncio.create_task(cache.aside(partial(cache.put, "key", "answer")))
    for _ in range(10):  # turns of the loop, which it would not have if it waited for the file
        await asyncio.sleep(0.01)
    was_done = putting.done()
    other.execute("COMMIT")
    other.close()
    await putting
    assert not was_done
    assert await cache.aside(partial(cache.get, "key")) == StoredAnswer("answer", earlier=False)
    cache.close()


async def test_a_journal_has_an_answer_before_the_event_loop_turns_to_the_next(tmp_path: Path) -> None:
    """So a kill loses no answer that has arrived, however many arrive together."""
    journal = CallCache(tmp_path / "calls.sqlite")
    putting = [asyncio.create_task(journal.aside(partial(journal.put, key, "answer"))) for key in "abc"]
    await asyncio.sleep(0)
    with closing(CallCache(tmp_path / "calls.sqlite")) as reopened:
        assert reopened.held()[0] == 3
    await asyncio.gather(*putting)
    journal.close()
