"""Answers already paid for, kept in one SQLite file that several processes may share.

With bounds it is the cache that runs share. Without, it is the journal of a resumable run, where nothing ages: each
answer is committed before it is used, so a killed run repeats only the calls that were in flight.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from factloop.core.errors import ConfigError, NoPlaceToKeep
from factloop.core.files.holds import Hold
from factloop.core.files.private import make_private_database, make_private_folder

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


T = TypeVar("T")
BUSY_TIMEOUT_S = 20.0
FORMAT = 2
"""Written into the file as its `user_version`."""
log = logging.getLogger(__name__)

_NO_PLACE = frozenset(
    {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}
)


@dataclass(frozen=True)
class StoredAnswer:
    """One kept answer. `earlier` says that it was written before this cache was opened."""

    value: Any
    earlier: bool


class CallCache:
    """A map from call keys to JSON values on disk. Not tied to an event loop: each operation takes microseconds, where
    the bounds are reached some milliseconds, and as long as another process writes up to `BUSY_TIMEOUT_S`. So within an
    event loop it goes `aside`.
    """

    def __init__(self, path: Path, bounds: CacheBounds | None = None) -> None:
        """Opens or makes the file, for its owner alone.

        Raises ConfigError where it cannot be used, NoPlaceToKeep among them.
        """
        self._path, self._bounds = path, bounds
        self._mine: set[str] = set()
        self._unweighed = 0
        self._hold: Hold | None = None
        self._thread: ThreadPoolExecutor | None = None
        try:
            self._make(path)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            self._prepare()
            self._prune()
        except sqlite3.Error as error:
            self.close()
            raise self._unusable(error) from error
        except ConfigError:
            self.close()
            raise

    def _make(self, path: Path) -> None:
        make_private_folder(path.parent)
        if self._bounds is not None:
            self._hold = Hold(hold_of(path))
        make_private_database(path)

    def _prepare(self) -> None:
        """Makes the table in a new file; a file that another program made is left as it is."""
        execute = self._connection.execute
        (found,) = execute("PRAGMA user_version").fetchone()
        if found == FORMAT:
            pass
        elif found == 0 and not execute("SELECT 1 FROM sqlite_master WHERE tbl_name <> 'answers'").fetchone():
            if self._bounds is not None:
                prepare_to_shrink(self._connection)
            self._switch_to_wal()
            execute("BEGIN IMMEDIATE")
            execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL, written REAL NOT NULL,"
                " calls INTEGER NOT NULL, usd REAL NOT NULL)"
            )
            execute(f"PRAGMA user_version={FORMAT}")
            execute("COMMIT")
        else:
            raise ConfigError(f"{self._path}: not made by this version of factloop; move it away or name another place")
        # A killed process loses nothing at this level; only a power cut may cost the last answers.
        execute("PRAGMA synchronous=NORMAL")

    def _switch_to_wal(self) -> None:
        """Lets readers and a writer work side by side; stays with the file.

        Of two connections that switch a new file at the same moment SQLite refuses one without waiting, as each
        holds what the other needs.
        """
        until = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.Error as error:
                if not _is_busy(error) or time.monotonic() > until:
                    raise
            time.sleep(random.uniform(0.01, 0.05))

    def _prune(self) -> None:
        """Removes what exceeds the bounds, if there are any and no other process is doing so."""
        self._unweighed = 0
        if self._bounds is not None:
            try:
                prune(self._connection, self._bounds)
            except sqlite3.Error as error:
                if not _is_busy(error):
                    raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> ConfigError:
        no_place = isinstance(error, OSError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _NO_PLACE
        kind = NoPlaceToKeep if no_place else ConfigError
        return kind(f"{self._path}: cannot be used as a cache ({error}); delete it or name another place")

    def _read(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise self._unusable(ValueError("an answer in it is not JSON")) from error

    def get(self, key: str, *, newer_than_s: float | None = None) -> StoredAnswer | None:
        """The answer kept under this key, unless it is older than `newer_than_s` seconds or the bounds allow.

        Raises ConfigError.
        """
        row = self._execute("SELECT value, written FROM answers WHERE key = ?", (key,)).fetchone()
        limits_s = (newer_than_s, self._bounds.max_age_s if self._bounds is not None else None)
        if row is None or any(limit_s is not None and time.time() - row[1] > limit_s for limit_s in limits_s):
            return None
        return StoredAnswer(self._read(row[0]), earlier=key not in self._mine)

    def put(self, key: str, value: Any, *, calls: int = 0, usd: float = 0.0) -> None:
        """Keeps an answer and what was paid for it; on disk when this returns.

        Where the disk refuses, a cache that runs share goes on without the answer, and warns once. A journal raises
        ConfigError, since paying for more would be waste; so does a damaged file.
        """
        # Escaped to ASCII, as text from outside may hold lone surrogates, which SQLite refuses.
        text = json.dumps(value, separators=(",", ":"))
        row = (key, text, time.time(), calls, usd)
        statement = "INSERT OR REPLACE INTO answers (key, value, written, calls, usd) VALUES (?, ?, ?, ?, ?)"
        try:
            self._execute(statement, row)
            self._mine.add(key)
            self._unweighed += len(text)
            if self._bounds is not None and self._unweighed > self._bounds.step_bytes:
                self._prune()
        except NoPlaceToKeep as error:
            if self._bounds is None:
                raise
            _say_once(f"{self._path}: answers are not kept from now on, and are paid for again ({error.__cause__})")

    async def aside(self, work: Callable[[], T]) -> T:
        """Does work with this cache in its one thread, in the order in which it comes; at once where none can wait.

        The journal of a run, which has no bounds, is written by one process: there an answer is on disk before the
        event loop turns to the next, so that a kill finds none that came and is not kept.

        A caller that is cancelled does not wait for the thread: the work is done all the same, before the cache is
        closed.
        """
        if self._bounds is None:
            return work()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="factloop-answers")
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, work))

    def drop(self, key: str) -> None:
        """Forgets an answer. Raises ConfigError."""
        self._execute("DELETE FROM answers WHERE key = ?", (key,))

    def values(self) -> Iterator[Any]:
        """All that is kept, one value at a time, in no particular order. Raises ConfigError."""
        for (text,) in self._execute("SELECT value FROM answers", ()):
            yield self._read(text)

    def paid(self) -> tuple[int, float]:
        """Model calls and dollars paid for all that is kept here."""
        calls, usd = self._execute("SELECT TOTAL(calls), TOTAL(usd) FROM answers", ()).fetchone()
        return int(calls), float(usd)

    def held(self) -> tuple[int, float | None]:
        """The number of answers, and when the oldest was written. Raises ConfigError."""
        number, oldest = self._execute("SELECT COUNT(*), MIN(written) FROM answers", ()).fetchone()
        return int(number), oldest

    def _execute(self, statement: str, values: tuple[str | float, ...]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        """Closes the file, once what goes aside is done."""
        if self._thread is not None:
            self._thread.shutdown()
        self._connection.close()
        if self._hold is not None:
            self._hold.release()


def hold_of(path: Path) -> Path:
    """The lock that a process holds while it uses the cache at `path`."""
    return path.with_name(f"{path.name}.use")


@cache
def _say_once(warning: str) -> None:
    log.warning("%s", warning)


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode == sqlite3.SQLITE_BUSY


MOST_IN_MEMORY = 4_096
"""Answers: several times those of a long answer's check, and some ten megabytes."""


class MemoryAnswers:
    """Keeps the last answers: within a check even what is not worth keeping is asked once.

    It lives as long as the session, in which thousands of checks may follow each other, so the answers that were not
    asked for the longest time go.
    """

    def __init__(self, most: int = MOST_IN_MEMORY) -> None:
        self._values: OrderedDict[str, Any] = OrderedDict()
        self._most = most

    def get(self, key: str, *, newer_than_s: float | None = None) -> StoredAnswer | None:  # noqa: ARG002 - as CallCache has it
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return StoredAnswer(self._values[key], earlier=False)

    def put(self, key: str, value: Any, *, calls: int = 0, usd: float = 0.0) -> None:  # noqa: ARG002 - as CallCache has it
        self._values[key] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)

    def drop(self, key: str) -> None:
        self._values.pop(key, None)

    async def aside(self, work: Callable[[], T]) -> T:
        return work()

    def close(self) -> None:
        """Nothing is open; here since it is called wherever a cache is."""


AnswersKept = CallCache | MemoryAnswers
"""A place for answers, to be closed by the one who opened it."""
