"""The index on disk, kept in step with the files: only what changed is read and indexed again."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from factloop.core.errors import ToolError, ToolTimeout
from factloop.core.files.holds import Hold
from factloop.core.files.private import FILE_MODE, make_private_folder, narrow_contents
from factloop.tools.search.documents.index import PassageReader, new_index, open_index, update_index
from factloop.tools.search.documents.loaders import load_sections
from factloop.tools.search.documents.manifest import Manifest, states_of
from factloop.tools.search.index_files import LOCK, MANIFEST, USE
from factloop.tools.search.passages import PassageSettings

FORMAT = 4
"""Raise it whenever loading, splitting or the schema changes: older indexes are then left alone and built anew."""
LOCK_WAIT_S = 1800.0
_TOOL = "documents"
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Snapshot:
    """One state of the files, ready to be searched."""

    reader: PassageReader
    path_of: Mapping[str, Path]
    """The file for each key, as the user spelled it; for files of equal name and content, the first."""
    identity: str
    """Hash of names, contents and settings: equal where the same answers are to be expected."""
    hold: Hold | None = None
    """Keeps the index from being removed while it lives."""


def snapshot_in_memory(paths: Sequence[Path], settings: PassageSettings) -> Snapshot:
    """The files at `paths` as they are now, all read and indexed; nothing is written. Raises DataError."""
    return _bring_up_to_date(paths, None, Manifest(), settings)


def open_snapshot(places: Sequence[str], paths: Sequence[Path], cache_dir: Path, settings: PassageSettings) -> Snapshot:
    """The files at `paths` as they are now, from the index of these `places` in `cache_dir`, brought up to date.

    Several processes may do so at once. A damaged index is built anew; where the folder cannot be used, the index is
    built in memory, with a warning. Raises DataError for unreadable files, ToolError where the disk fails.
    """
    spelled = (FORMAT, settings, sorted(os.path.abspath(place) for place in places))
    folder = cache_dir / hashlib.sha256(repr(spelled).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    try:
        make_private_folder(cache_dir)
        hold = Hold(folder.with_suffix(USE))
    except OSError as error:
        return _without(folder, error, paths, settings)
    try:
        make_private_folder(folder)
        with FileLock(folder.with_suffix(LOCK), timeout=LOCK_WAIT_S, mode=FILE_MODE):
            narrow_contents(folder)
            snapshot = _open_locked(paths, folder, settings)
            narrow_contents(folder)  # what tantivy has written goes by the umask
        return replace(snapshot, hold=hold)
    except Timeout as error:
        raise ToolTimeout(tool=_TOOL, timeout_s=LOCK_WAIT_S) from error
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            return _without(folder, error, paths, settings)
        raise ToolError(f"{_TOOL}: no index can be kept in {folder}: {error}", tool=_TOOL) from error


def _without(folder: Path, error: OSError, paths: Sequence[Path], settings: PassageSettings) -> Snapshot:
    reason = error.strerror or error
    log.warning("%s: no index can be kept there (%s); the documents are indexed in memory", folder.parent, reason)
    return snapshot_in_memory(paths, settings)


def _open_locked(paths: Sequence[Path], folder: Path, settings: PassageSettings) -> Snapshot:
    manifest = Manifest.read(folder / MANIFEST)
    if manifest is not None and (manifest.unsure or manifest.index_sizes == _index_sizes(folder)):
        try:
            return _bring_up_to_date(paths, folder, manifest, settings)
        except ValueError:  # tantivy's word for an index that it cannot read
            pass
    shutil.rmtree(folder)
    make_private_folder(folder)
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
    return {path.name: path.stat().st_size for path in files if path.name != MANIFEST and path.name[0] != "."}


def _note(folder: Path | None, manifest: Manifest) -> None:
    if folder is not None:
        manifest.write(folder / MANIFEST)


def _identity(keys: Iterable[str], settings: PassageSettings) -> str:
    return hashlib.sha256(repr((FORMAT, settings, sorted(keys))).encode()).hexdigest()[:32]
