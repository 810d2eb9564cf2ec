"""How much a cache of answers keeps, and for how long: what is older goes, and the oldest where there is too much.

Age is the time since an answer was written, not since it was used: so a hit writes nothing and waits for no writer, and
after a while every question is asked anew, since models behind a name and pages of the web change.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass

PROTECTED_S = 3600.0
"""What is this young stays, however much there is: a run at work counts on it."""
BATCH = 50
"""Answers that go in one transaction: another process waits for no longer than that takes."""
PAGES_AT_ONCE = 1000
"""Pages freed in one step, so that other processes wait no longer."""


@dataclass(frozen=True)
class CacheBounds:
    """Bounds of a cache that runs share."""

    max_bytes: int
    max_age_s: float

    @property
    def step_bytes(self) -> int:
        """Bytes written between two looks at the size: few, since the writer then waits for the removal."""
        return self.max_bytes // 256


def prune(connection: sqlite3.Connection, bounds: CacheBounds) -> None:
    """Removes answers until the bounds hold, in small transactions: killed at any time it leaves a cache to use.

    Between two looks at the size the file grows by a step, so it stays within `max_bytes` without being shrunk each
    time; it is shrunk where it is larger, or mostly empty. Raises sqlite3.Error.
    """
    connection.execute("CREATE INDEX IF NOT EXISTS answers_by_age ON answers (written)")
    now = time.time()
    while _remove(connection, before=now - max(bounds.max_age_s, PROTECTED_S)):
        pass
    high, low = (bounds.max_bytes - steps * bounds.step_bytes for steps in (2, 4))
    if _used_bytes(connection) > high:
        while _used_bytes(connection) > low and _remove(connection, before=now - PROTECTED_S):
            pass
    if _file_bytes(connection) > bounds.max_bytes or _used_bytes(connection) < _file_bytes(connection) // 2:
        _shrink(connection)


def prepare_to_shrink(connection: sqlite3.Connection) -> None:
    """Prepares a new file: SQLite must know before the first table. Older ones only stop growing."""
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")


def _remove(connection: sqlite3.Connection, *, before: float) -> int:
    """How many of the oldest were removed, of those written before that time."""
    oldest = "SELECT rowid FROM answers WHERE written < ? ORDER BY written LIMIT ?"
    if connection.execute(oldest, (before, 1)).fetchone() is None:  # a look takes no lock from writers
        return 0
    return connection.execute(f"DELETE FROM answers WHERE rowid IN ({oldest})", (before, BATCH)).rowcount


def _shrink(connection: sqlite3.Connection) -> None:
    left = _number(connection, "freelist_count")
    while left:
        connection.executescript(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})")  # `execute` would stop after a page
        before, left = left, _number(connection, "freelist_count")
        if left >= before:  # a file that cannot shrink
            return


def _file_bytes(connection: sqlite3.Connection) -> int:
    return _number(connection, "page_count") * _number(connection, "page_size")


def _used_bytes(connection: sqlite3.Connection) -> int:
    return _file_bytes(connection) - _number(connection, "freelist_count") * _number(connection, "page_size")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
