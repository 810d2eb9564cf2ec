"""The index on disk, kept in step with the files: only what changed is read and indexed again."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from factloop.errors import ToolError, ToolTimeout
from factloop.tools.search.documents.index import PassageReader, new_index, open_index, update_index
from factloop.tools.search.documents.loaders import load_sections
from factloop.tools.search.documents.manifest import Manifest, states_of
from factloop.tools.search.passages import PassageSettings

FORMAT = 3
"""Raise it whenever loading, splitting or the schema changes: older indexes are then left alone and built anew."""
LOCK_WAIT_S = 1800.0
_MANIFEST = "manifest.json"
_TOOL = "documents"
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(frozen=True)
class Snapshot:
    """One state of the files, ready to be searched."""

    reader: PassageReader
    path_of: Mapping[str, Path]
    """The file for each key, as the user spelled it; for files of equal name and content, the first."""
    identity: str
    """Hash of names, contents and settings: equal where the same answers are to be expected."""


def open_snapshot(places: Sequence[str], paths: Sequence[Path], cache_dir: Path, settings: PassageSettings) -> Snapshot:
    """The files at `paths` as they are now, from the index of these `places` in `cache_dir`, brought up to date.

    Several processes may do so at once. A damaged index is built anew; where the folder cannot be written, the index is
    built in memory. Raises DataError for unreadable files, ToolError where the disk fails.
    """
    spelled = (FORMAT, settings, sorted(os.path.abspath(place) for place in places))
    folder = cache_dir / hashlib.sha256(repr(spelled).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock"), timeout=LOCK_WAIT_S):
            return _open_locked(paths, folder, settings)
    except Timeout as error:
        raise ToolTimeout(tool=_TOOL, timeout_s=LOCK_WAIT_S) from error
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            return _bring_up_to_date(paths, None, Manifest(), settings)
        raise ToolError(f"{_TOOL}: no index can be kept in {folder}: {error}", tool=_TOOL) from error


def _open_locked(paths: Sequence[Path], folder: Path, settings: PassageSettings) -> Snapshot:
    manifest = Manifest.read(folder / _MANIFEST)
    if manifest is not None and (manifest.unsure or manifest.index_sizes == _index_sizes(folder)):
        try:
            return _bring_up_to_date(paths, folder, manifest, settings)
        except ValueError:  # tantivy's word for an index that it cannot read
            pass
    shutil.rmtree(folder)
    folder.mkdir()
    return _bring_up_to_date(paths, folder, Manifest(), settings)


def _bring_up_to_date(
    paths: Sequence[Path], folder: Path | None, known: Manifest, settings: PassageSettings
) -> Snapshot:
    states = states_of(paths, known)
    path_of: dict[str, Path] = {}
    for path, state in states.items():
        path_of.setdefault(state.key, path)
    missing = path_of.keys() - (known.indexed - known.unsure)
    stale = (known.indexed - path_of.keys()) | known.unsure
    index = open_index(folder) if folder and known.indexed | known.unsure else new_index(folder)
    if missing or stale:
        # Told before it is done: a process killed in between leaves keys that the next one removes and adds again.
        _note(folder, Manifest(files=known.files, indexed=known.indexed, unsure=known.unsure | missing | stale))
        update_index(
            index,
            remove=sorted(stale),
            add=((key, load_sections(path)) for key, path in path_of.items() if key in missing),
            n_bytes=sum(state.size for state in states.values() if state.key in missing),
            settings=settings,
        )
    files = {str(path.resolve()): state for path, state in states.items()}
    if files != known.files or missing or stale:
        _note(folder, Manifest(files=files, indexed=frozenset(path_of), index_sizes=_index_sizes(folder)))
    return Snapshot(PassageReader(index), path_of, _identity(path_of, settings))


def _index_sizes(folder: Path | None) -> dict[str, int]:
    files = folder.iterdir() if folder else ()
    return {path.name: path.stat().st_size for path in files if path.name != _MANIFEST and path.name[0] != "."}


def _note(folder: Path | None, manifest: Manifest) -> None:
    if folder is not None:
        manifest.write(folder / _MANIFEST)


def _identity(keys: Iterable[str], settings: PassageSettings) -> str:
    return hashlib.sha256(repr((FORMAT, settings, sorted(keys))).encode()).hexdigest()[:32]
