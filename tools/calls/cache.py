"""Answers already paid for, kept in one SQLite file that several processes may share.

The same file is the journal of a resumable run: each answer is committed before it is used, so a killed run repeats
only the calls that were in flight.
"""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factloop.errors import ConfigError

BUSY_TIMEOUT_S = 20.0
FORMAT = 1


@dataclass(frozen=True)
class Kept:
    """One kept answer. `earlier` says that it was written before this cache was opened."""

    value: Any
    earlier: bool


class CallCache:
    """A map from call keys to JSON values on disk. Not tied to an event loop: each operation takes microseconds."""

    def __init__(self, path: Path | None) -> None:
        """Opens or makes the file; None keeps the answers in memory. Raises ConfigError where it cannot be used."""
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
            # A killed process loses nothing at this level; only a power cut may cost the last answers.
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL, written REAL NOT NULL)"
            )
            (found,) = self._connection.execute("PRAGMA user_version").fetchone()
            if found not in (0, FORMAT):
                raise ConfigError(f"{path}: made by another version of factloop (format {found}); move it away")
            self._connection.execute(f"PRAGMA user_version={FORMAT}")
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(
                f"{path}: cannot be used as a cache ({error}); delete it or name another place"
            ) from error
        self._mine: set[str] = set()

    def get(self, key: str, *, newer_than_s: float | None = None) -> Kept | None:
        """The answer kept under this key, unless it is older than `newer_than_s` seconds."""
        row = self._connection.execute("SELECT value, written FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None or (newer_than_s is not None and time.time() - row[1] > newer_than_s):
            return None
        return Kept(json.loads(row[0]), earlier=key not in self._mine)

    def put(self, key: str, value: Any) -> None:
        """Keeps an answer; on disk when this returns."""
        self._connection.execute(
            "INSERT OR REPLACE INTO answers (key, value, written) VALUES (?, ?, ?)",
            (key, json.dumps(value, ensure_ascii=False, separators=(",", ":")), time.time()),
        )
        self._mine.add(key)

    def close(self) -> None:
        self._connection.close()
