"""Lists what the cache folder holds, and empties it but for files in use.

Only names that factloop gives are looked at, so that nothing else in the folder is ever removed.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from factloop.core.errors import ConfigError
from factloop.core.files.holds import Hold, exclusive_hold
from factloop.core.files.private import BESIDE_DATABASE
from factloop.core.records import Count, Record
from factloop.setup.caching.folder import ANSWERS, INDEXES, VECTORS, Part, place_looked_at
from factloop.setup.settings import RunSettings
from factloop.tools.calls.cache import PROTECTED_S, CallCache, hold_of
from factloop.tools.search.index_files import LOCK, MANIFEST, USE, remove_index

_INDEX = re.compile(rf"([0-9a-f]{{32}})(?:\{LOCK}|\{USE})?")
_VECTORS = re.compile(r"words-[0-9a-f]{32}(?:\.npy|(?P<words>.+))|word2vec-[0-9a-f]{32}(?P<word2vec>\..+)?")
"""Names of vectors. Those in groups are of files being written, or left by a killed process."""


@dataclass(frozen=True)
class Thing:
    """An index or a file of vectors in the folder."""

    part: Part
    path: Path
    n_bytes: int
    used_at: float
    """Seconds since the epoch."""

    def remove(self) -> bool:
        """Removes it unless it is in use; returns whether it is gone."""
        try:
            return _REMOVE[self.part](self.path)
        except FileNotFoundError:  # another process was quicker
            return True
        except OSError:
            return False


def things_in(folder: Path) -> list[Thing]:
    """The things in the folder, the longest unused first."""
    return sorted([*_indexes(folder / INDEXES), *_vectors(folder / VECTORS)], key=lambda thing: thing.used_at)


def database_bytes(path: Path) -> int:
    """Bytes of a database, with what SQLite keeps beside it."""
    return sum(_bytes(path.with_name(f"{path.name}{ending}")) for ending in ("", *BESIDE_DATABASE))


def _indexes(folder: Path) -> Iterator[Thing]:
    """The indexes by their names, also where only a lock is left."""
    names = sorted({found[1] for path in _entries(folder) if (found := _INDEX.fullmatch(path.name))})
    for path in (folder / name for name in names):
        seen = (path.with_suffix(USE), path / MANIFEST, path)
        used_at = next((moment for place in seen if (moment := _time(place))), 0.0)
        yield Thing(INDEXES, path, _bytes_below(path), used_at)


def _vectors(folder: Path) -> Iterator[Thing]:
    for path in _entries(folder):
        if _VECTORS.fullmatch(path.name):
            yield Thing(VECTORS, path, _bytes_below(path), _time(path))


def _remove_vectors(path: Path) -> bool:
    """Removes the file; processes that have it mapped keep their view of it, but on Windows the file stays."""
    name = _VECTORS.fullmatch(path.name)
    if name is not None and any(name.groups()) and time.time() - _time(path) < PROTECTED_S:
        return False
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    return True


_REMOVE: dict[Part, Callable[[Path], bool]] = {INDEXES: remove_index, VECTORS: _remove_vectors}


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _bytes_below(path: Path) -> int:
    return sum(map(_bytes, _entries(path))) if path.is_dir() else _bytes(path)


def _bytes(path: Path) -> int:
    """Size of the file; 0 if another process has removed it meanwhile."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


class CacheSection(Record):
    """One kind of entries in the cache."""

    n: Count
    n_bytes: Count
    oldest: datetime | None
    """When the oldest answer was written; of indexes and vectors, when the longest unused was used. None if empty."""


class CacheStatus(Record):
    """The answer of `cache show`."""

    schema_version: Literal["1.0"] = "1.0"
    folder: Path
    answers: CacheSection
    indexes: CacheSection
    """Indexes of documents."""
    vectors: CacheSection
    """Files of word vectors."""
    n_bytes: Count
    cache_mb: int
    """Millions of bytes that it may take."""
    cache_days: float
    """Days for which answers are kept, and indexes and vectors out of use."""


def status_of(settings: RunSettings) -> CacheStatus:
    """The status now. Removes nothing. Raises ConfigError for a damaged file of answers, or no folder."""
    folder = place_looked_at(settings)
    things = things_in(folder)
    answers = _answers(folder)
    indexes, vectors = (_kept([one for one in things if one.part == part]) for part in (INDEXES, VECTORS))
    return CacheStatus(
        folder=folder,
        answers=answers,
        indexes=indexes,
        vectors=vectors,
        n_bytes=answers.n_bytes + indexes.n_bytes + vectors.n_bytes,
        cache_mb=settings.cache_mb,
        cache_days=settings.cache_days,
    )


def number_of_answers(path: Path) -> tuple[int, float | None]:
    """The number of answers, and when the oldest was written. Raises ConfigError."""
    with closing(CallCache(path)) as answers:
        return answers.held()


def _answers(folder: Path) -> CacheSection:
    path = folder / ANSWERS
    if not path.is_file():
        return CacheSection(n=0, n_bytes=0, oldest=None)
    with Hold(hold_of(path)):
        number, oldest = number_of_answers(path)
    return CacheSection(n=number, n_bytes=database_bytes(path), oldest=None if oldest is None else _moment(oldest))


def _kept(things: Sequence[Thing]) -> CacheSection:
    there = [one for one in things if one.path.exists()]  # of some only a lock is left
    return CacheSection(
        n=len(there),
        n_bytes=sum(one.n_bytes for one in there),
        oldest=_moment(there[0].used_at) if there else None,
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)


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
