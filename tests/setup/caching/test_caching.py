from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.setup.caching.contents import clear, status_of
from factloop.setup.caching.folder import INDEXES, bounds_of, cache_folder, cache_place
from factloop.setup.caching.opening import open_answers, remove_excess, tidy
from factloop.setup.settings import RunSettings
from factloop.tools.calls.cache import CacheBounds, CallCache
from factloop.tools.search.documents.search import DocumentSearch
from tests.rights import open_to_others
from tests.setup.caching.cache_folders import (
    DAY_S,
    HOUR_S,
    STRANGERS,
    VECTORS,
    indexes,
    keep_answers,
    keep_index,
    keep_vectors,
    last_used,
    put_strangers,
    settings_at,
    strangers,
)


def test_the_folder_of_the_settings_else_the_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert cache_place(settings_at(tmp_path / "own")) == tmp_path / "own"
    if os.name == "posix":
        assert cache_place(RunSettings()) == tmp_path / "user" / "factloop"
    assert list(tmp_path.iterdir()) == []


def test_bounds_are_those_of_the_settings() -> None:
    assert bounds_of(RunSettings()) == CacheBounds(max_bytes=1_024_000_000, max_age_s=30 * 86400.0)
    assert bounds_of(RunSettings(cache_mb=1, cache_days=0.5)) == CacheBounds(max_bytes=1_000_000, max_age_s=43200.0)
    for wrong in ({"cache_mb": 0}, {"cache_days": 0.0}, {"cache_days": -1.0}):
        with pytest.raises(ConfigError, match="cache_"):
            RunSettings.of(None, **wrong)


def test_without_a_cache_there_is_no_folder(tmp_path: Path) -> None:
    settings = settings_at(tmp_path / "cache", cache=False)
    assert cache_folder(settings) is None
    with closing(open_answers(settings)) as answers:
        answers.put("key", 1)
        assert answers.get("key") is not None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="rights of this kind")
@pytest.mark.usefixtures("widest_umask")
class TestRights:
    def test_what_is_made_is_its_owner_s_alone(self, tmp_path: Path) -> None:
        settings = settings_at(tmp_path / "a" / "cache")
        assert cache_folder(settings, INDEXES) == tmp_path / "a" / "cache" / "indexes"
        with closing(open_answers(settings)) as answers:
            answers.put("key", 1)
            assert open_to_others(tmp_path / "a") == []

    def test_the_user_s_own_folder_is_narrowed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        (tmp_path / "factloop" / "indexes").mkdir(parents=True)
        assert cache_folder(RunSettings()) == tmp_path / "factloop"
        assert cache_folder(RunSettings(), INDEXES) is not None
        assert open_to_others(tmp_path / "factloop") == []

    def test_a_folder_that_the_user_named_keeps_its_rights_and_what_is_ours_in_it_does_not(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "shared" / "indexes").mkdir(parents=True)
        (tmp_path / "shared" / "notes.txt").write_text("for all")
        settings = settings_at(tmp_path / "shared")
        cache_folder(settings, INDEXES)
        open_answers(settings).close()
        assert open_to_others(tmp_path / "shared") == [".", "notes.txt"]


@pytest.mark.parametrize("in_the_way", ["cache", "cache/indexes", "."])
def test_a_folder_that_cannot_be_used_is_a_warning_once(
    tmp_path: Path, in_the_way: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "file" / "cache" if in_the_way == "." else tmp_path / "cache"
    file = tmp_path / ("file" if in_the_way == "." else in_the_way)
    file.parent.mkdir(exist_ok=True)
    file.write_text("in the way")
    settings = settings_at(folder)
    for _ in range(3):
        assert cache_folder(settings, INDEXES) is None
    (message,) = caplog.messages
    assert message.startswith(f"cannot use {folder} as the cache folder (")
    assert message.endswith("so answers and indexes are kept in memory")
    assert "\n" not in message


def test_answers_that_cannot_be_opened_are_kept_in_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "calls.sqlite").mkdir()
    with closing(open_answers(settings_at(tmp_path))) as answers:
        answers.put("key", 1)
        assert answers.get("key") is not None
    (message,) = caplog.messages
    assert message.startswith(f"cannot use {tmp_path} as the cache folder (")
    assert list((tmp_path / "calls.sqlite").iterdir()) == []


WIDE = CacheBounds(max_bytes=1_000_000_000, max_age_s=30 * DAY_S)


def test_what_nobody_used_for_too_long_goes(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    old, new = keep_index(folder, "old"), keep_index(folder, "new")
    vectors = keep_vectors(folder)
    put_strangers(folder)
    for path, days in ((old, 31), (new, 29), (vectors, 31)):
        last_used(path, days * DAY_S)
    remove_excess(folder, WIDE)
    assert indexes(folder) == {new}
    assert not vectors.exists()
    assert {path.name for path in (folder / "indexes").iterdir()} == {
        new.name, f"{new.name}.use", f"{new.name}.lock", "notes.txt", "mine",
    }  # fmt: skip
    assert strangers(folder) == list(STRANGERS)


def test_using_an_index_makes_it_young_again(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    index = keep_index(folder, "ada")
    last_used(index, 31 * DAY_S)
    DocumentSearch([tmp_path / "documents" / "ada"], cache_dir=folder / "indexes")
    remove_excess(folder, WIDE)
    assert indexes(folder) == {index}


def test_where_all_together_is_too_much_the_longest_unused_goes_first(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    kept = [keep_index(folder, name) for name in ("first", "second", "third")]
    for path, hours in zip(kept, (5, 4, 3), strict=True):
        last_used(path, hours * HOUR_S)
    vectors = keep_vectors(folder, n_bytes=100_000)
    last_used(vectors, 4.5 * HOUR_S)
    keep_answers(folder, 100)
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    remove_excess(folder, CacheBounds(max_bytes=total + 1000, max_age_s=30 * DAY_S))
    assert indexes(folder) == set(kept)
    remove_excess(folder, CacheBounds(max_bytes=total - 90_000, max_age_s=30 * DAY_S))
    assert indexes(folder) == {kept[1], kept[2]}
    assert not vectors.exists()


def test_what_was_just_used_stays_however_much_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    index, vectors = keep_index(folder, "ada"), keep_vectors(folder)
    remove_excess(folder, CacheBounds(max_bytes=1, max_age_s=1.0))
    assert indexes(folder) == {index}
    assert vectors.exists()


def test_answers_never_go_for_an_index(tmp_path: Path) -> None:
    """Answers cost money and an index only time; an index in use may exceed the limit."""
    folder = tmp_path / "cache"
    keep_answers(folder, 500)
    keep_vectors(folder, n_bytes=5_000_000)
    with closing(open_answers(settings_at(folder, cache_mb=1))) as answers:
        assert isinstance(answers, CallCache)
        assert answers.held()[0] == 500


def test_opening_the_answers_and_tidying_keep_the_folder_in_bounds(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    vectors = keep_vectors(folder)
    last_used(vectors, 31 * DAY_S)
    open_answers(settings_at(folder)).close()
    assert not vectors.exists()
    last_used(keep_vectors(folder), 31 * DAY_S)
    tidy(settings_at(folder))
    assert not vectors.exists()
    kept = keep_vectors(folder)
    last_used(kept, 31 * DAY_S)
    tidy(settings_at(folder, cache=False))  # whose folder it is not
    assert kept.exists()


def test_what_a_killed_process_left_unfinished_goes_once_it_is_old(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    unfinished = keep_vectors(folder, f"{VECTORS[:-4]}xyz123")
    remove_excess(folder, CacheBounds(max_bytes=1, max_age_s=30 * DAY_S))
    assert unfinished.exists()
    last_used(unfinished, 31 * DAY_S)
    remove_excess(folder, WIDE)
    assert not unfinished.exists()


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
    assert cleared.stayed == ()
    assert cleared.n_bytes == before - size(folder)


def test_what_is_in_use_stays_and_is_named(folder: Path) -> None:
    search = DocumentSearch([folder.parent / "documents" / "ada"], cache_dir=folder / "indexes")
    with closing(open_answers(settings_at(folder))) as answers:
        cleared = clear(folder, answers=True, indexes=True)
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
    with pytest.raises(ConfigError, match=r"calls\.sqlite was not created by factloop"):
        clear(tmp_path, answers=True, indexes=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_vectors_that_are_being_written_stay(tmp_path: Path) -> None:
    unfinished = keep_vectors(tmp_path, f"words-{'a' * 32}tmp1")
    assert clear(tmp_path, answers=True, indexes=True).stayed == (unfinished,)
    last_used(unfinished, 2 * HOUR_S)
    assert clear(tmp_path, answers=True, indexes=True).stayed == ()
    assert not unfinished.exists()


def test_folders_of_vectors_that_earlier_versions_left_are_counted_and_removed(tmp_path: Path) -> None:
    left = tmp_path / "vectors" / f"word2vec-{'b' * 32}"
    left.mkdir(parents=True)
    (left / "vectors.npy").write_bytes(b"x" * 1000)
    status = status_of(settings_at(tmp_path))
    assert (status.vectors.n, status.vectors.n_bytes) == (1, 1000)
    assert clear(tmp_path, answers=False, indexes=True).n_bytes == 1000
    assert not left.exists()


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
