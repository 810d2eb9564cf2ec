"""Run directories store a run's configuration and paid answers, so that the run can be resumed.

To resume a run, start it again. Every answer is on disk before it is used, and the graph is deterministic given the
answers. So a resumed run replays the answers and pays only for calls that were in flight when the run stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from factloop.core.errors import ConfigError, NoPlaceToKeep, RunInUse
from factloop.core.files.json import to_json, write_atomically
from factloop.core.files.private import FILE_MODE, make_private_folder, narrow_contents, write_private
from factloop.core.records import Record

FORMAT = 1
BEFORE_THE_RUN = frozenset({"run.tmp", "lock"})
"""Files left by a process that was killed before it wrote `run.json`."""


class RunDirectory:
    """A run's directory, private to its owner and used by one process at a time. Use it as a context manager."""

    def __init__(self, path: Path, *, flag: str = "--run-dir") -> None:
        """Raises ConfigError if the directory is in use or contains other files. The message suggests `flag` to choose
        another directory."""
        self.path, self._flag = path, flag
        try:
            make_private_folder(path)
            items = {item.name: item for item in path.iterdir()}
            if odd := [one for one in items.values() if one.exists() and not (one.is_file() or one.is_dir())]:
                raise ConfigError(f"{odd[0]} is a named pipe or a device; use another directory")
            if "run.json" not in items and items.keys() - BEFORE_THE_RUN:
                raise ConfigError(f"{path} is neither empty nor a run directory; use another directory")
            self._lock = self._hold()
            narrow_contents(path)
        except OSError as error:
            raise self._unusable(error) from error

    @property
    def journal(self) -> Path:
        """The SQLite file of paid answers."""
        return self.path / "journal.sqlite"

    def keep(self, report: Record) -> None:
        """Saves the run's report, readable only by its owner. Raises ConfigError if writing fails."""
        write_atomically(self.path / "report.json", to_json(report), private=True)

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()  # the system does this if the process is killed

    def _hold(self) -> FileLock:
        lock = FileLock(self.path / "lock", timeout=0, mode=FILE_MODE)
        try:
            lock.acquire()
        except Timeout as error:
            raise RunInUse(f"another process is using the run directory {self.path}") from error
        return lock

    def _write(self, file: Path, text: str) -> None:
        unfinished = file.with_suffix(".tmp")
        try:
            write_private(unfinished, text.encode())
            os.replace(unfinished, file)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> NoPlaceToKeep:
        return NoPlaceToKeep(f"cannot use {self.path} as a run directory: {error.strerror or error}")

    def claim(self, configuration: Mapping[str, Any]) -> None:
        """Saves the run's configuration. Raises ConfigError if a different one was already saved."""
        wanted = json.loads(json.dumps({"format": FORMAT, **configuration}, default=str))
        file = self.path / "run.json"
        if not file.exists():
            self._write(file, json.dumps(wanted, indent=2, sort_keys=True) + "\n")
            return
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            different = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))
        except (OSError, ValueError, RecursionError, AttributeError, TypeError) as error:
            raise ConfigError(f"cannot read {file}; use another run directory") from error
        if different:
            raise ConfigError(
                f"{self.path} belongs to a run with a different configuration (changed: {', '.join(different)}); "
                f"use the same settings and input, or another {self._flag}"
            )
