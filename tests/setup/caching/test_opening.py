"""The bounds of the whole folder: what goes for being too old or too much, and what stays all the same."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from factloop.setup.caching.opening import open_answers, remove_excess, tidy
from factloop.tools.calls.cache import CacheBounds, CallCache
from factloop.tools.search.documents import DocumentSearch
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

WIDE = CacheBounds(max_bytes=1_000_000_000, max_age_s=30 * DAY_S)
SEARCHER = """
import sys
from pathlib import Path
from factloop.tools.search.documents import DocumentSearch
search = DocumentSearch([sys.argv[1]], cache_dir=Path(sys.argv[2]))
print("open", flush=True)
sys.stdin.readline()
"""


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


@pytest.mark.process
def test_an_index_that_another_process_has_open_stays(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    index = keep_index(folder, "ada")
    command = [sys.executable, "-c", SEARCHER, str(tmp_path / "documents" / "ada"), str(folder / "indexes")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as searcher:
        assert searcher.stdout is not None
        assert searcher.stdout.readline() == "open\n"
        last_used(index, 40 * DAY_S)
        remove_excess(folder, WIDE)
        assert indexes(folder) == {index}
        searcher.communicate("go\n")
    last_used(index, 40 * DAY_S)
    remove_excess(folder, WIDE)
    assert indexes(folder) == set()


def test_answers_never_go_for_an_index(tmp_path: Path) -> None:
    """They cost money, an index only time; and an index in use may be larger than the bound."""
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


@pytest.mark.parametrize("name", [f"{VECTORS[:-4]}xyz123", f"word2vec-{'b' * 32}.tmp1"])
def test_what_a_killed_process_left_unfinished_goes_once_it_is_old(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "cache"
    unfinished = keep_vectors(folder, name)
    remove_excess(folder, CacheBounds(max_bytes=1, max_age_s=30 * DAY_S))
    assert unfinished.exists()
    last_used(unfinished, 31 * DAY_S)
    remove_excess(folder, WIDE)
    assert not unfinished.exists()
