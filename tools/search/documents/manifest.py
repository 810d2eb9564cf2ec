"""The manifest of an index on disk: its files, by content, and whether an update was broken off."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from factloop.core.errors import DataError
from factloop.core.files.private import write_private

_RACY_NS = 2_000_000_000
"""A file changed this shortly before it was looked at may change again without a new time stamp: it is read again."""


class FileState(BaseModel):
    """A file as it was when its content was last read. `key` names its content together with its name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    mtime_ns: int
    seen_ns: int
    key: str

    def holds_for(self, status: os.stat_result) -> bool:
        unchanged = (self.size, self.mtime_ns) == (status.st_size, status.st_mtime_ns)
        return unchanged and self.mtime_ns < self.seen_ns - _RACY_NS


class Manifest(BaseModel):
    """Written beside an index. Keys in `unsure` were being added or removed: they may be there in part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: dict[str, FileState] = {}
    """Files by absolute path."""
    indexed: frozenset[str] = frozenset()
    unreadable: dict[str, str] = {}
    """Files of folders that could not be read, and files without text, by key, and why: they are not read again while
    they stay the same."""
    unsure: frozenset[str] = frozenset()
    index_sizes: dict[str, int] = {}
    """Bytes of each file of the index, since tantivy does not always notice that one is missing."""

    @classmethod
    def read(cls, path: Path) -> Manifest | None:
        """The manifest in the file; None if the file is missing or unreadable."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, path: Path) -> None:
        """Replace the file in one step, so that no reader ever meets half of it."""
        draft = path.with_suffix(".new")
        write_private(draft, self.model_dump_json().encode())
        draft.replace(path)


def state_of(path: Path, known: Manifest) -> FileState:
    """The state of a file; its content is read only where size or time stamp differ. Raises DataError."""
    try:
        status = path.stat()
        state = known.files.get(str(path.resolve()))
        return state if state and state.holds_for(status) else _read_state(path, status)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=str(path)) from error


def _read_state(path: Path, status: os.stat_result) -> FileState:
    seen_ns = time.time_ns()
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    # The name belongs to the key: it gives the title of files that have none, and says how they are read.
    key = hashlib.sha256(f"{digest} {path.name}".encode("utf-8", "surrogateescape")).hexdigest()
    return FileState(size=status.st_size, mtime_ns=status.st_mtime_ns, seen_ns=seen_ns, key=key)
