"""Lists what the cache folder holds beside answers: indexes of documents and word vectors, which can be made again.

Only names that factloop gives are looked at, so that nothing else in the folder is ever removed.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from factloop.core.files.private import BESIDE_DATABASE
from factloop.setup.caching.folder import INDEXES, VECTORS, Part
from factloop.tools.calls.cache import PROTECTED_S
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
