"""Lists and clears the cache folder. Touches only files whose names factloop uses."""

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
_VECTORS = re.compile(r"words-[0-9a-f]{32}(?:\.npy|(?P<unfinished>.+))|word2vec-[0-9a-f]{32}(?:\..+)?")
"""Unfinished files are being written or were left by a killed process. Earlier versions made word2vec folders."""


@dataclass(frozen=True)
class Thing:
    """An index or a vector file in the cache folder."""

    part: Part
    path: Path
    n_bytes: int
    used_at: float
    """Seconds since the epoch."""

    def remove(self) -> bool:
        """Returns whether the file is gone. A file that is in use is kept."""
        try:
            return _REMOVE[self.part](self.path)
        except FileNotFoundError:  # another process removed it first
            return True
        except OSError:
            return False


def things_in(folder: Path) -> list[Thing]:
    """The indexes and vector files, least recently used first."""
    return sorted([*_indexes(folder / INDEXES), *_vectors(folder / VECTORS)], key=lambda thing: thing.used_at)


def database_bytes(path: Path) -> int:
    """The size of a database, including the files that SQLite creates next to it."""
    return sum(_bytes(path.with_name(f"{path.name}{ending}")) for ending in ("", *BESIDE_DATABASE))


def _indexes(folder: Path) -> Iterator[Thing]:
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
    """Processes that have mapped the file can still read it. On Windows, a mapped file is not removed."""
    name = _VECTORS.fullmatch(path.name)
    if name is not None and name["unfinished"] and time.time() - _time(path) < PROTECTED_S:
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
    n: Count
    n_bytes: Count
    oldest: datetime | None
    """When the oldest answer was written, or when the least recently used file was last used. None if empty."""


class CacheStatus(Record):
    schema_version: Literal["1.0"] = "1.0"
    folder: Path
    answers: CacheSection
    indexes: CacheSection
    vectors: CacheSection
    n_bytes: Count
    cache_mb: int
    """In millions of bytes."""
    cache_days: float
    """Days after which answers, and unused indexes and vectors, are removed."""


def status_of(settings: RunSettings) -> CacheStatus:
    """Does not change the cache. Raises ConfigError if the folder or its answer file is unusable."""
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


def _answers(folder: Path) -> CacheSection:
    path = folder / ANSWERS
    if not path.is_file():
        return CacheSection(n=0, n_bytes=0, oldest=None)
    with Hold(hold_of(path)), closing(CallCache(path)) as answers:
        number, oldest = answers.held()
    return CacheSection(n=number, n_bytes=database_bytes(path), oldest=None if oldest is None else _moment(oldest))


def _kept(things: Sequence[Thing]) -> CacheSection:
    there = [one for one in things if one.path.exists()]  # for some, only a lock remains
    return CacheSection(
        n=len(there), n_bytes=sum(one.n_bytes for one in there), oldest=_moment(there[0].used_at) if there else None
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)


class CacheCleared(Record):
    schema_version: Literal["1.0"] = "1.0"
    folder: Path
    n_bytes: Count
    stayed: tuple[Path, ...]
    """Files that could not be removed, because they are in use or permissions are missing."""


def clear(folder: Path, *, answers: bool, indexes: bool) -> CacheCleared:
    """Removes answers, or indexes and word vectors, or both. Files in use are kept and listed. Raises ConfigError."""
    path, freed, stayed = folder / ANSWERS, 0, list[Path]()
    if answers and path.is_file():
        n_bytes = _clear_answers(path)
        freed += n_bytes or 0
        stayed += [path] if n_bytes is None else []
    for thing in things_in(folder) if indexes else ():
        if thing.remove():
            freed += thing.n_bytes
        else:
            stayed.append(thing.path)
    return CacheCleared(folder=folder, n_bytes=freed, stayed=tuple(stayed))


def _clear_answers(path: Path) -> int | None:
    is_ours = True
    try:
        with exclusive_hold(hold_of(path)) as is_free:
            is_ours = not is_free or _is_ours(path)
            if is_free and is_ours:
                n_bytes = database_bytes(path)
                # The database is removed last, because leftover files would alter a new database.
                for ending in (*BESIDE_DATABASE, ""):
                    path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
                return n_bytes
    except OSError:
        return None
    if not is_ours:
        raise ConfigError(f"{path} was not created by factloop; move the file, or set another `cache_dir`")
    return None


def _is_ours(path: Path) -> bool:
    """Returns False for another program's database that happens to have the same name."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error:
        return True
    return not tables or "answers" in tables
