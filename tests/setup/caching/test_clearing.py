"""Emptying the cache: what goes, what stays, and what is said of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.setup.caching.clearing import clear
from factloop.setup.caching.opening import open_answers
from factloop.setup.caching.status import status_of
from factloop.tools.calls.cache import CallCache
from factloop.tools.search.documents import DocumentSearch
from tests.setup.caching.cache_folders import (
    HOUR_S,
    STRANGERS,
    indexes,
    keep_answers,
    keep_index,
    keep_vectors,
    last_used,
    put_strangers,
    settings_at,
    strangers,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    keep_index(folder, "ada")
    keep_index(folder, "curie")
    keep_answers(folder, 100)
    keep_vectors(folder)
    put_strangers(folder)
    return folder


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_all_that_is_ours_goes_and_nothing_else(folder: Path) -> None:
    before = size(folder)
    cleared = clear(folder, answers=True, indexes=True)
    assert files(folder) == set(STRANGERS)
    assert strangers(folder) == list(STRANGERS)
    assert (cleared.n_answers, cleared.n_indexes, cleared.n_vectors) == (100, 2, 1)
    assert cleared.stayed == ()
    assert cleared.n_bytes == before - size(folder)


def test_what_is_in_use_stays_and_is_named(folder: Path) -> None:
    search = DocumentSearch([folder.parent / "documents" / "ada"], cache_dir=folder / "indexes")
    with closing(open_answers(settings_at(folder))) as answers:
        cleared = clear(folder, answers=True, indexes=True)
        assert (cleared.n_answers, cleared.n_indexes, cleared.n_vectors) == (0, 1, 1)
        (index,) = indexes(folder)
        assert set(cleared.stayed) == {folder / "calls.sqlite", index}
        answers.put("later", 1)
        assert isinstance(answers, CallCache)
        assert answers.held()[0] == 101
    assert len(search.search("about", 3)) == 1
    del search
    assert clear(folder, answers=True, indexes=True).stayed == ()
    assert files(folder) == set(STRANGERS)


def test_the_answers_of_a_killed_process_go_with_what_sqlite_left(folder: Path) -> None:
    for ending in ("-wal", "-shm"):
        (folder / f"calls.sqlite{ending}").write_bytes(b"")
    clear(folder, answers=True, indexes=False)
    assert not list(folder.glob("calls.sqlite-*"))


def test_a_database_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE mine (x)")
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=r"calls\.sqlite: not made by factloop"):
        clear(tmp_path, answers=True, indexes=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_vectors_that_are_being_written_stay(tmp_path: Path) -> None:
    unfinished = keep_vectors(tmp_path, f"words-{'a' * 32}tmp1")
    assert clear(tmp_path, answers=True, indexes=True).stayed == (unfinished,)
    last_used(unfinished, 2 * HOUR_S)
    assert clear(tmp_path, answers=True, indexes=True).n_vectors == 1


@pytest.mark.parametrize("place", ["nowhere", "empty"])
def test_there_may_be_nothing(tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir()
    cleared = clear(tmp_path / place, answers=True, indexes=True)
    assert (cleared.n_answers, cleared.n_indexes, cleared.n_vectors, cleared.n_bytes) == (0, 0, 0, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]
    assert files(tmp_path) == set()


def test_status_counts_and_dates_and_changes_nothing(folder: Path) -> None:
    for index in indexes(folder):
        last_used(index, 5 * HOUR_S)
    before = files(folder)
    status = status_of(settings_at(folder, cache_mb=7, cache_days=3.0))
    assert (status.answers.n, status.indexes.n, status.vectors.n) == (100, 2, 1)
    assert status.vectors.n_bytes == 1000
    assert status.n_bytes == status.answers.n_bytes + status.indexes.n_bytes + status.vectors.n_bytes
    assert status.answers.n_bytes > 100_000
    assert status.answers.oldest is not None
    assert status.indexes.oldest is not None
    assert abs((status.answers.oldest - status.indexes.oldest).total_seconds() - 5 * HOUR_S) < HOUR_S
    assert (status.folder, status.cache_mb, status.cache_days) == (folder, 7, 3.0)
    assert files(folder) - before <= {"calls.sqlite.use"}
