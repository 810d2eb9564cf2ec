"""Journals of several machines, and how they become one."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.running.journals import gather, journal_at
from factloop.tools.calls.cache import CallCache
from tests.rights import open_to_others

HOME, OTHER = "10.0.0.1", "10.0.0.2"


def keep(path: Path, **answers: str) -> None:
    with closing(CallCache(path)) as cache:
        for key, value in answers.items():
            cache.put(key, value, calls=1, usd=0.5)


def kept(path: Path, *keys: str) -> list[str | None]:
    with closing(CallCache(path)) as cache:
        return [None if found is None else found.value for found in map(cache.get, keys)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_on_one_machine_there_is_one_journal(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert gather(folder, elsewhere=False) == (0, 0.0)
    assert journal_at(folder, HOME, HOME) == folder / "journal.sqlite"
    keep(folder / "journal.sqlite", a="one", b="two")
    assert gather(folder, elsewhere=False) == (2, 1.0)
    assert names(folder) == ["journal.sqlite"]


def test_what_was_paid_on_another_machine_is_known_everywhere_at_the_next_start(tmp_path: Path) -> None:
    gather(tmp_path, elsewhere=True)
    keep(journal_at(tmp_path, HOME, HOME), a="here", b="here first")
    keep(journal_at(tmp_path, OTHER, HOME), b="there", c="there")
    keep(journal_at(tmp_path, "fe80::1", HOME), d="third")
    assert names(tmp_path) == ["earlier.sqlite", "journal-10.0.0.2.sqlite", "journal-fe80__1.sqlite", "journal.sqlite"]
    # a, b, c and d were paid for, and b by two machines: what it cost is known for one of them.
    assert gather(tmp_path, elsewhere=True) == (4, 2.0)
    assert names(tmp_path) == ["earlier.sqlite", "journal.sqlite"]
    assert kept(journal_at(tmp_path, HOME, HOME), *"abcd") == ["here", "here first", "there", "third"]
    assert kept(journal_at(tmp_path, "10.0.0.9", HOME), *"abcd") == ["here", "here first", "there", "third"]


def test_a_second_worker_of_a_machine_finds_what_the_first_wrote(tmp_path: Path) -> None:
    gather(tmp_path, elsewhere=True)
    keep(journal_at(tmp_path, OTHER, HOME), c="there")
    assert kept(journal_at(tmp_path, OTHER, HOME), "c") == ["there"]
    assert not [name for name in names(tmp_path) if name.endswith(".part")]


@pytest.mark.skipif(os.name != "posix", reason="rights of this kind")
@pytest.mark.usefixtures("widest_umask")
def test_journals_and_copies_are_their_owner_s_alone(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    keep(folder / "journal.sqlite", a="one")
    gather(folder, elsewhere=True)
    keep(journal_at(folder, OTHER, HOME), b="two")
    assert names(folder) == ["earlier.sqlite", "journal-10.0.0.2.sqlite", "journal.sqlite"]
    assert open_to_others(folder) == []


def test_a_file_that_is_no_journal_is_named_and_stays(tmp_path: Path) -> None:
    (tmp_path / "journal-x.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(ConfigError, match=r"journal-x\.sqlite"):
        gather(tmp_path, elsewhere=False)
    assert (tmp_path / "journal-x.sqlite").exists()
