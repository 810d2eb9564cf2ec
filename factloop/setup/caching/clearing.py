"""Empties the cache, but for files in use and files that are not factloop's."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

from factloop.core.errors import ConfigError
from factloop.core.files.holds import exclusive_hold
from factloop.core.files.private import BESIDE_DATABASE
from factloop.core.records import Count, Record
from factloop.setup.caching.contents import database_bytes, things_in
from factloop.setup.caching.folder import ANSWERS, INDEXES, VECTORS
from factloop.setup.caching.status import number_of_answers
from factloop.tools.calls.cache import hold_of


class CacheCleared(Record):
    """The outcome of `cache clear`."""

    schema_version: Literal["1.0"] = "1.0"
    folder: Path
    n_answers: Count
    """Answers removed, without those of a damaged file, which is removed, too."""
    n_indexes: Count
    n_vectors: Count
    n_bytes: Count
    """Bytes that are free now."""
    stayed: tuple[Path, ...]
    """Files that another process uses, or that may not be removed."""


def clear(folder: Path, *, answers: bool, indexes: bool) -> CacheCleared:
    """Removes the answers, or indexes of documents and word vectors, or all of it. Raises ConfigError.

    It does not wait: files in use stay, and are named.
    """
    cleared = _Clearing(folder)
    if answers:
        cleared.remove_answers(folder / ANSWERS)
    if indexes:
        cleared.remove_things()
    return cleared.report()


class _Clearing:
    """Removes files, and keeps account of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._n_answers = self._n_bytes = 0
        self._n_things = {INDEXES: 0, VECTORS: 0}
        self._stayed: list[Path] = []

    def remove_answers(self, path: Path) -> None:
        if not path.is_file():
            return
        is_ours = True
        try:
            with exclusive_hold(hold_of(path)) as is_free:
                is_ours = not is_free or _is_ours(path)
                if is_free and is_ours:
                    self._remove_database(path)
        except OSError:
            is_free = False
        if not is_ours:
            raise ConfigError(f"{path}: not made by factloop; move it away or name another place")
        if not is_free:
            self._stayed.append(path)

    def _remove_database(self, path: Path) -> None:
        n_bytes, n_answers = database_bytes(path), _number(path)
        for ending in (*BESIDE_DATABASE, ""):  # the file last: SQLite would read the others into a new one
            path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
        self._n_bytes += n_bytes
        self._n_answers += n_answers

    def remove_things(self) -> None:
        for thing in things_in(self._folder):
            was_there = thing.path.exists()  # and not only a lock that was left
            if thing.remove():
                self._n_things[thing.part] += was_there
                self._n_bytes += thing.n_bytes
            else:
                self._stayed.append(thing.path)

    def report(self) -> CacheCleared:
        return CacheCleared(
            folder=self._folder,
            n_answers=self._n_answers,
            n_indexes=self._n_things[INDEXES],
            n_vectors=self._n_things[VECTORS],
            n_bytes=self._n_bytes,
            stayed=tuple(self._stayed),
        )


def _number(path: Path) -> int:
    """How many answers the file holds; 0 for a damaged one."""
    try:
        return number_of_answers(path)[0]
    except ConfigError:
        return 0


def _is_ours(path: Path) -> bool:
    """Whether it is a database of answers, or damaged; another database may have been given that name."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error:
        return True
    return not tables or "answers" in tables
