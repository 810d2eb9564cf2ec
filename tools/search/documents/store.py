"""Keeps the index on disk up to date with the files. Only changed files are read and indexed again."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from factloop.core.errors import DataError, ToolError, ToolTimeout
from factloop.core.files.holds import Hold
from factloop.core.files.lines import open_given, read_given
from factloop.core.files.private import FILE_MODE, make_private_folder, narrow_contents, write_private
from factloop.tools.search.documents.files import UnreadFile
from factloop.tools.search.documents.index import NO_TEXT, PassageReader, new_index, open_index, update_index
from factloop.tools.search.documents.loaders import load_sections
from factloop.tools.search.index_files import LOCK, MANIFEST, USE
from factloop.tools.search.passages import PassageSettings

_RACY_NS = 2_000_000_000
"""Within this many nanoseconds, a file may change again without a new timestamp, so it is read again."""


class FileState(BaseModel):
    """The state of a file when it was last read. `key` identifies its content and name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    mtime_ns: int
    seen_ns: int
    key: str

    def holds_for(self, status: os.stat_result) -> bool:
        unchanged = (self.size, self.mtime_ns) == (status.st_size, status.st_mtime_ns)
        return unchanged and self.mtime_ns < self.seen_ns - _RACY_NS


class Manifest(BaseModel):
    """The description of an index, stored in its folder. Keys in `unsure` were being added or removed and may be
    incomplete.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: dict[str, FileState] = {}
    indexed: frozenset[str] = frozenset()
    unreadable: dict[str, str] = {}
    """Maps the keys of unreadable files in folders, and of files without text, to reasons."""
    unsure: frozenset[str] = frozenset()
    index_sizes: dict[str, int] = {}

    @classmethod
    def read(cls, path: Path) -> Manifest | None:
        try:
            return cls.model_validate_json(read_given(path))
        except (DataError, ValidationError):
            return None

    def write(self, path: Path) -> None:
        """Replaces the file in one step, so that readers never see a partial file."""
        draft = path.with_suffix(".new")
        write_private(draft, self.model_dump_json().encode())
        draft.replace(path)


def state_of(path: Path, known: Manifest) -> FileState:
    """Returns the state of a file, reading its content only if the size or timestamp has changed. Raises DataError."""
    try:
        status = path.stat()
        state = known.files.get(str(path.resolve()))
        return state if state and state.holds_for(status) else _read_state(path, status)
    except OSError as error:
        raise DataError(f"cannot read the file ({error.strerror or error})", path=str(path)) from error


def _read_state(path: Path, status: os.stat_result) -> FileState:
    seen_ns = time.time_ns()
    with open_given(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    # The name is part of the key, because it determines how a file is read, and is the title if the file has none.
    key = hashlib.sha256(f"{digest} {path.name}".encode("utf-8", "surrogateescape")).hexdigest()
    return FileState(size=status.st_size, mtime_ns=status.st_mtime_ns, seen_ns=seen_ns, key=key)


FORMAT = 12
"""Increase this number whenever loading, splitting or the schema changes, so that older indexes are rebuilt."""
LOCK_WAIT_S = 1800.0
_TOOL = "documents"
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WantedFiles:
    paths: tuple[Path, ...]
    required: frozenset[Path]


@dataclass(frozen=True)
class Snapshot:
    reader: PassageReader
    path_of: Mapping[str, Path]
    """Maps each key to a file's path as the user wrote it (the first, if several files have the same key)."""
    identity: str
    """A hash of names, contents and settings. Snapshots with the same hash should give the same answers."""
    unread: tuple[UnreadFile, ...] = ()
    hold: Hold | None = None
    """Keeps the index from being removed while this object exists."""


def snapshot_in_memory(files: WantedFiles, settings: PassageSettings) -> Snapshot:
    return _bring_up_to_date(files, None, Manifest(), settings)


def open_snapshot(places: Sequence[str], files: WantedFiles, cache_dir: Path, settings: PassageSettings) -> Snapshot:
    """Updates the index of these `places` in `cache_dir` and returns its state.

    Several processes may do this at the same time. A damaged index is rebuilt. If the folder cannot be used, the index
    is built in memory, and a warning is logged. Raises DataError for unreadable files, and ToolError if the disk fails.
    """
    spelled = (FORMAT, settings, sorted(os.path.abspath(place) for place in places))
    folder = cache_dir / hashlib.sha256(repr(spelled).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    try:
        make_private_folder(cache_dir)
        hold = Hold(folder.with_suffix(USE))
    except OSError as error:
        return _without(folder, error, files, settings)
    try:
        make_private_folder(folder)
        with FileLock(folder.with_suffix(LOCK), timeout=LOCK_WAIT_S, mode=FILE_MODE):
            narrow_contents(folder)
            snapshot = _open_locked(files, folder, settings)
            narrow_contents(folder)  # tantivy's files get their permissions from the umask
        return replace(snapshot, hold=hold)
    except Timeout as error:
        raise ToolTimeout(tool=_TOOL, timeout_s=LOCK_WAIT_S) from error
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            return _without(folder, error, files, settings)
        raise ToolError(f"{_TOOL}: cannot store the index in {folder}: {error}", tool=_TOOL) from error


def _without(folder: Path, error: OSError, files: WantedFiles, settings: PassageSettings) -> Snapshot:
    reason = error.strerror or error
    log.warning("%s: cannot store the index there (%s), so the documents are indexed in memory", folder.parent, reason)
    return snapshot_in_memory(files, settings)


def _open_locked(files: WantedFiles, folder: Path, settings: PassageSettings) -> Snapshot:
    manifest = Manifest.read(folder / MANIFEST)
    if manifest is not None and (manifest.unsure or manifest.index_sizes == _index_sizes(folder)):
        try:
            return _bring_up_to_date(files, folder, manifest, settings)
        except ValueError:  # tantivy raises this if it cannot read an index
            pass
    shutil.rmtree(folder)
    make_private_folder(folder)
    return _bring_up_to_date(files, folder, Manifest(), settings)


def _bring_up_to_date(files: WantedFiles, folder: Path | None, known: Manifest, settings: PassageSettings) -> Snapshot:
    states, unread = _states(files, known)
    path_of: dict[str, Path] = {}
    for path, state in states.items():
        path_of.setdefault(state.key, path)
    may_fail = path_of.keys() - {states[path].key for path in files.required if path in states}
    textless = {key for key, why in known.unreadable.items() if why == NO_TEXT} & path_of.keys()
    may_stay = may_fail | textless
    unreadable = {key: why for key, why in known.unreadable.items() if key in may_stay}
    missing = path_of.keys() - (known.indexed - known.unsure) - unreadable.keys()
    stale = (known.indexed - path_of.keys()) | known.unsure
    index = open_index(folder) if folder and known.indexed | known.unsure else new_index(folder)
    if missing or stale:
        # The keys are recorded first. If this process is killed, the next one removes them and adds them again.
        _note(folder, Manifest(files=known.files, indexed=known.indexed, unsure=known.unsure | missing | stale))
        failed = update_index(
            index,
            remove=sorted(stale),
            add=((key, load_sections(path)) for key, path in path_of.items() if key in missing),
            n_bytes=sum(state.size for state in states.values() if state.key in missing),
            settings=settings,
            may_fail=may_fail,
        )
        unreadable |= {key: error.reason for key, error in failed.items()}
    unread += [UnreadFile(path, unreadable[state.key]) for path, state in states.items() if state.key in unreadable]
    read = {key: path for key, path in path_of.items() if key not in unreadable}
    known_files = {str(path.resolve()): state for path, state in states.items()}
    if known_files != known.files or missing or stale:
        sizes = _index_sizes(folder)
        _note(folder, Manifest(files=known_files, indexed=frozenset(read), unreadable=unreadable, index_sizes=sizes))
    return Snapshot(PassageReader(index), read, _identity(read, settings), tuple(unread))


def _states(files: WantedFiles, known: Manifest) -> tuple[dict[Path, FileState], list[UnreadFile]]:
    states: dict[Path, FileState] = {}
    unread: list[UnreadFile] = []
    for path in files.paths:
        try:
            states[path] = state_of(path, known)
        except DataError as error:
            if path in files.required:
                raise
            unread.append(UnreadFile(path, error.reason))
    return states, unread


def _index_sizes(folder: Path | None) -> dict[str, int]:
    files = folder.iterdir() if folder else ()
    return {path.name: path.stat().st_size for path in files if path.name != MANIFEST and path.name[0] != "."}


def _note(folder: Path | None, manifest: Manifest) -> None:
    if folder is not None:
        manifest.write(folder / MANIFEST)


def _identity(keys: Iterable[str], settings: PassageSettings) -> str:
    return hashlib.sha256(repr((FORMAT, settings, sorted(keys))).encode()).hexdigest()[:32]
