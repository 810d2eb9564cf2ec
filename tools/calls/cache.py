"""Stores answers in a SQLite file that several processes can share.

With `bounds`, the file is a cache that all runs share. Without them, it is the journal of a resumable run: answers
never expire, and each is committed before it is used, so a killed run repeats only the calls in progress.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import secrets
import sqlite3
import time
import zlib
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from factloop.core.errors import ConfigError, NoPlaceToKeep
from factloop.core.files.holds import Hold
from factloop.core.files.private import make_private_database, make_private_folder
from factloop.tools.calls.meter import CallCost

PROTECTED_S = 3600.0
"""Entries younger than this are never removed, because a run in progress may rely on them."""
BATCH = 50
PAGES_AT_ONCE = 1000

Read = Callable[[Any], object]
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""Errors raised if an answer has an unexpected shape. Pydantic's errors are ValueErrors."""
_IS_COST = "typeof(calls) = 'integer' AND calls >= 0 AND usd BETWEEN 0 AND 1e12"


@dataclass(frozen=True)
class CacheBounds:
    max_bytes: int
    max_age_s: float

    @property
    def step_bytes(self) -> int:
        """Number of bytes to write between size checks. It is small because the writer waits for removals."""
        return self.max_bytes // 256


def prune(connection: sqlite3.Connection, bounds: CacheBounds) -> None:
    """Removes answers until the limits are met. Transactions are small, so the process may be killed at any time.

    The file can grow by one step between size checks, so removal starts before `max_bytes` is reached. The file is
    shrunk only if it exceeds `max_bytes` or more than half of it is unused. Raises sqlite3.Error.
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
    """Allows a new file without tables to shrink later. Other files stop growing but never shrink."""
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")


def _remove(connection: sqlite3.Connection, *, before: float) -> int:
    oldest = "SELECT rowid FROM answers WHERE written < ? ORDER BY written LIMIT ?"
    if connection.execute(oldest, (before, 1)).fetchone() is None:  # reading does not block writers
        return 0
    return connection.execute(f"DELETE FROM answers WHERE rowid IN ({oldest})", (before, BATCH)).rowcount


def _shrink(connection: sqlite3.Connection) -> None:
    left = _number(connection, "freelist_count")
    while left:
        connection.executescript(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})")  # `execute` would stop after one page
        before, left = left, _number(connection, "freelist_count")
        if left >= before:  # this file cannot shrink
            return


def _file_bytes(connection: sqlite3.Connection) -> int:
    return _number(connection, "page_count") * _number(connection, "page_size")


def _used_bytes(connection: sqlite3.Connection) -> int:
    return _file_bytes(connection) - _number(connection, "freelist_count") * _number(connection, "page_size")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


T = TypeVar("T")
BUSY_TIMEOUT_S = 20.0
FORMAT = 3
log = logging.getLogger(__name__)

_NO_PLACE = frozenset(
    {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}
)


@dataclass(frozen=True)
class StoredAnswer:
    """An answer from a cache. `earlier` is True if it was stored before this cache was opened."""

    value: Any
    earlier: bool


class CallCache:
    """Maps call keys to JSON values on disk. It is not tied to an event loop. Inside one, run operations with `aside`.

    An operation usually takes microseconds. It takes a few milliseconds when a limit is reached, and up to
    `BUSY_TIMEOUT_S` while another process is writing.
    """

    def __init__(self, path: Path, bounds: CacheBounds | None = None) -> None:
        """Opens the file, or creates one that only its owner can read.

        Raises ConfigError if the file cannot be used, or its subclass NoPlaceToKeep if it cannot be written.
        """
        self._path, self._bounds = path, bounds
        self._mine: set[str] = set()
        self._sent: dict[str, str] = {}
        self._lost: defaultdict[str, list[Any]] = defaultdict(list)
        self._unweighed = 0
        self._hold: Hold | None = None
        self._thread: ThreadPoolExecutor | None = None
        try:
            self._make(path)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            self._connection.text_factory = partial(str, encoding="utf-8", errors="replace")
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
        """Leaves a file made by another program unchanged."""
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
            raise ConfigError(
                f"{self._path} was created by another program or version of factloop; move it or use another path"
            )
        if self._bounds is None:
            execute(
                "CREATE TABLE IF NOT EXISTS sent (id TEXT PRIMARY KEY, key TEXT NOT NULL, cost TEXT NOT NULL,"
                " calls INTEGER NOT NULL, usd REAL NOT NULL)"
            )
            for key, cost in execute("SELECT key, cost FROM sent").fetchall():
                self._lost[key].append(self._read(key, cost, lambda plain: CallCost(**plain)))
        # At this level, killing the process loses nothing; a power cut may lose the last answers.
        execute("PRAGMA synchronous=NORMAL")

    def _switch_to_wal(self) -> None:
        """Tries again if two connections switch a new file at once. SQLite then rejects one immediately, because each
        holds a lock that the other needs.
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
        advice = (
            "make sure that it can be written" if no_place else "delete it, but its answers are then paid for again"
        )
        return kind(f"cannot store answers in {self._path} ({error}); {advice}, or use another path")

    def _read(self, key: str, text: str, read: Read) -> Any:
        try:
            if text != _checked(key, text[9:]):
                raise ValueError("its checksum is wrong")
            read(value := json.loads(text[9:]))
        except (*UNREADABLE, RecursionError) as error:
            raise self._damaged(key) from error
        return value

    def _damaged(self, key: str) -> ConfigError:
        return self._unusable(ValueError(f"the stored answer {key[:16]} is damaged"))

    def get(self, key: str, *, newer_than_s: float | None = None, read: Read = id) -> StoredAnswer | None:
        """Returns the answer, unless it is older than `newer_than_s` seconds or than the limits allow.

        Raises ConfigError if the answer is damaged, or if `read` raises one of the errors in `UNREADABLE`.
        """
        row = self._execute("SELECT value, CAST(written AS REAL) FROM answers WHERE key = ?", (key,)).fetchone()
        limits_s = (newer_than_s, self._bounds.max_age_s if self._bounds is not None else None)
        if row is None or any(limit_s is not None and time.time() - row[1] > limit_s for limit_s in limits_s):
            return None
        return StoredAnswer(self._read(key, row[0], read), earlier=key not in self._mine)

    def put(self, key: str, value: Any, *, calls: int = 0, usd: float = 0.0) -> None:
        """Stores an answer and its cost on disk.

        If the disk is full or read-only, a shared cache goes on without the answer and warns once. A journal raises
        ConfigError, because further answers would be paid for and lost. A damaged file always raises ConfigError.
        """
        # The text is escaped to ASCII, because it may contain lone surrogates, which SQLite rejects.
        text = json.dumps(value, separators=(",", ":"))
        row = (key, _checked(key, text), time.time(), calls, usd)
        statement = "INSERT OR REPLACE INTO answers (key, value, written, calls, usd) VALUES (?, ?, ?, ?, ?)"
        try:
            self._execute(statement, row)
            self._mine.add(key)
            self.note_failed(key)
            self._unweighed += len(text)
            if self._bounds is not None and self._unweighed > self._bounds.step_bytes:
                self._prune()
        except NoPlaceToKeep as error:
            if self._bounds is None:
                raise
            _say_once(f"{self._path}: cannot store new answers, so you may pay for them again ({error.__cause__})")

    def note_sent(self, key: str, cost: Any, *, calls: int, usd: float) -> None:
        """Records the maximum cost of a request in a journal. If the process is killed before the answer is stored, the
        request counts as paid for.
        """
        self._sent[key] = secrets.token_hex(8)
        row = (self._sent[key], key, _checked(key, json.dumps(cost)), calls, usd)
        self._execute("INSERT INTO sent (id, key, cost, calls, usd) VALUES (?, ?, ?, ?, ?)", row)

    def note_failed(self, key: str) -> None:
        if (sent := self._sent.pop(key, None)) is not None:
            self._execute("DELETE FROM sent WHERE id = ?", (sent,))

    def take_lost(self, key: str) -> list[Any]:
        """Returns and forgets the maximum costs of unanswered requests that earlier attempts sent for this answer."""
        return self._lost.pop(key, [])

    async def aside(self, work: Callable[[], T]) -> T:
        """Runs `work` on this cache: in a thread and in order of arrival for a shared cache, immediately for a journal.

        Only one process writes a journal, so nothing blocks, and an answer that has arrived cannot be lost. If the
        caller is cancelled, it does not wait for the thread, but the work is done before the cache is closed.
        """
        if self._bounds is None:
            return work()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="factloop-answers")
        done = asyncio.get_running_loop().run_in_executor(self._thread, work)
        done.add_done_callback(lambda done: done.cancelled() or done.exception())  # the caller may have been cancelled
        return await asyncio.shield(done)

    def drop(self, key: str) -> None:
        self._execute("DELETE FROM answers WHERE key = ?", (key,))

    def values(self) -> Iterator[Any]:
        """Yields all stored values in no particular order, one at a time. Raises ConfigError."""
        for key, text in self._execute("SELECT key, value FROM answers", ()):
            yield self._read(key, text, id)

    def paid(self) -> tuple[int, float]:
        """Returns the model calls and dollars of all stored answers and unanswered requests. Raises ConfigError."""
        n_calls, all_usd = 0, 0.0
        for table in ("answers", *(("sent",) if self._bounds is None else ())):
            sums = f"TOTAL(calls), TOTAL(usd), MIN(CASE WHEN NOT ({_IS_COST}) THEN key END)"
            calls, usd, damaged = self._execute(f"SELECT {sums} FROM {table}", ()).fetchone()
            if damaged is not None:
                raise self._damaged(damaged)
            n_calls, all_usd = n_calls + int(calls), all_usd + usd
        return n_calls, all_usd

    def held(self) -> tuple[int, float | None]:
        """Returns the number of answers and the time of the oldest. Raises ConfigError."""
        oldest_of = "MIN(MAX(CAST(MIN(written) AS REAL), 0), 4e9)"  # within the dates that `datetime` can represent
        number, oldest = self._execute(f"SELECT COUNT(*), {oldest_of} FROM answers", ()).fetchone()
        return int(number), oldest

    def _execute(self, statement: str, values: tuple[str | float, ...]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown()
        self._connection.close()
        if self._hold is not None:
            self._hold.release()


def hold_of(path: Path) -> Path:
    """Returns the path of the lock file that a process holds while it uses the cache at `path`."""
    return path.with_name(f"{path.name}.use")


def _checked(key: str, text: str) -> str:
    """Adds a checksum that also covers the key, so that two answers cannot be exchanged."""
    return f"#{zlib.crc32(f'{key} {text}'.encode()):08x}{text}"


@cache
def _say_once(warning: str) -> None:
    log.warning("%s", warning)


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode == sqlite3.SQLITE_BUSY


MOST_IN_MEMORY = 4_096
"""Maximum number of answers, about ten megabytes in total. The check of a long answer needs only a fraction of them."""


class MemoryAnswers:
    """Keeps recent answers in memory, so that a check never repeats a call.

    A session may run thousands of checks, so the least recently used answers are removed.
    """

    def __init__(self, most: int = MOST_IN_MEMORY) -> None:
        self._values: OrderedDict[str, Any] = OrderedDict()
        self._most = most

    def get(self, key: str, **_: object) -> StoredAnswer | None:  # with the options of CallCache
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return StoredAnswer(self._values[key], earlier=False)

    def put(self, key: str, value: Any, *, calls: int = 0, usd: float = 0.0) -> None:  # noqa: ARG002 - the signature of CallCache
        self._values[key] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)

    def drop(self, key: str) -> None:
        self._values.pop(key, None)

    async def aside(self, work: Callable[[], T]) -> T:
        return work()

    def close(self) -> None:
        """Does nothing. Every cache has this method."""


AnswersKept = CallCache | MemoryAnswers
