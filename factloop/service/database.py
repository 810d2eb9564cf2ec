"""Opens the job database: SQLite for a single service, or PostgreSQL for several."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError

from factloop.core.errors import ConfigError
from factloop.core.extras import missing
from factloop.core.files.private import FILE_MODE, make_private_database, open_private

T = TypeVar("T")
LOST_AFTER_S = 10  # seconds without a response after which a connection counts as lost
SILENT_S = 30.0  # seconds to wait for a server that accepts a statement but does not respond
_BOUNDS = (
    "SELECT set_config('lock_timeout', '20s', true), set_config('idle_in_transaction_session_timeout', '5s', true)"
)
_ROLLED_BACK, _LOCKED = "40", "55P03"  # PostgreSQL's class of errors for deadlocks and the like, and its lock timeout
_TO_A_SERVER = {
    "connect_timeout": LOST_AFTER_S,
    "keepalives_idle": LOST_AFTER_S,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 1_000 * LOST_AFTER_S,
}
LOG_BYTES = 5_000_000
"""Maximum size of SQLite's write-ahead log before it is written to the database: slightly over 1,000 pages."""
_MAGIC = b"SQLite format 3\x00"
_STAMP = slice(60, 64)  # position of `user_version` in the header of a SQLite file
_NOTHING_CAME = 0  # what psycopg sends to a waiting statement at intervals while no data arrives


class FileReplaced(SQLAlchemyError):
    """The database file is not the one that was opened."""


def open_database(url: str, *, silent_s: float = SILENT_S) -> Engine:
    """Does not connect yet. Creates a missing SQLite file. Raises ConfigError."""
    engine = _engine_of(url, silent_s)
    if engine.dialect.name == "sqlite":
        if (path := file_of(engine)) is not None:
            with suppress(OSError):  # SQLite reports the error
                make_private_database(path)
        event.listen(engine, "connect", _set_up_sqlite)
    return engine


def open_to_read(url: str, *, silent_s: float = SILENT_S) -> Engine:
    """Never creates or changes a file. Raises ConfigError."""
    engine = _engine_of(url, silent_s)
    path = file_of(engine)
    if path is None:
        return engine.execution_options(postgresql_readonly=True)
    return create_engine(engine.url, creator=partial(_connect_to_read, path))


def _engine_of(url: str, silent_s: float) -> Engine:
    wrong = f"--database {shown(url)}: must be sqlite:///FILE or postgresql+psycopg://..."
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            return create_engine(parsed, pool_pre_ping=True)
        if parsed.get_backend_name() != "postgresql":
            raise ConfigError(wrong)
        if "+" not in parsed.drivername:
            parsed = parsed.set(drivername="postgresql+psycopg")
        # parameters in the URL take precedence
        given: dict[str, Any] = {name: value for name, value in _TO_A_SERVER.items() if name not in parsed.query}
        if parsed.drivername != "postgresql+psycopg":
            return create_engine(parsed, pool_pre_ping=True, connect_args=given)
        given["prepare_threshold"] = None  # a connection pooler may switch connections between transactions
        engine = create_engine(parsed, pool_pre_ping=True, connect_args=given)
        _bound_silence(engine, silent_s)
        return engine
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(wrong) from error
    except ImportError as error:
        raise missing("postgres", "PostgreSQL") from error


def bound_locks(engine: Engine) -> None:
    """Keeps a service that freezes within a transaction from blocking the others. Does nothing for SQLite."""
    if engine.dialect.name == "postgresql":
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(_BOUNDS).all())


def _bound_silence(engine: Engine, seconds: float) -> None:
    """Aborts PostgreSQL statements that get no response, because TCP does not detect a server that hangs."""
    from psycopg import Connection, OperationalError

    def bounded(connection: Connection[Any], gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        heard_at = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready != _NOTHING_CAME:
                    heard_at = time.monotonic()
                elif time.monotonic() - heard_at > seconds:
                    connection.close()  # otherwise, a late response could seem to answer the next statement
                    raise OperationalError(f"no answer within {seconds:g} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value

    class BoundedConnection(Connection[Any]):
        def wait(self, gen: Generator[Any, Any, Any], *args: Any, **options: Any) -> Any:
            return super().wait(bounded(self, gen), *args, **options)

    def connect(_dialect: object, _record: object, args: Any, options: Any) -> Any:
        return BoundedConnection.connect(*args, **options)

    event.listen(engine, "do_connect", connect)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Without a write-ahead log, the file is opened as immutable, because SQLite would otherwise leave a log behind."""
    how = "mode=ro" if Path(f"{path}-wal").exists() else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, check_same_thread=False)


def file_of(engine: Engine) -> Path | None:
    """The file of a SQLite database. None if the database is in memory or on a server."""
    name = engine.url.database
    if engine.dialect.name != "sqlite" or not name or name == ":memory:" or name.startswith("file:"):
        return None
    return Path(name)


@contextmanager
def locked(engine: Engine) -> Iterator[None]:
    """Locks a SQLite file until the block or the process ends. Raises ConfigError if it is already locked."""
    path = file_of(engine)
    if path is None:
        yield
        return
    try:
        with FileLock(f"{path}.lock", timeout=0, thread_local=False, mode=FILE_MODE):
            yield
    except Timeout as error:
        where = shown(engine.url.render_as_string())
        raise ConfigError(
            f"--database {where} is in use by another service; give each service its own file, "
            "or use a PostgreSQL database for all of them"
        ) from error


class Reserve:
    """Disk space that is released when the disk is full, because SQLite needs space even to delete rows."""

    def __init__(self, engine: Engine, n_bytes: int) -> None:
        self._engine, self._n_bytes, path = engine, n_bytes, file_of(engine)
        self._path = None if path is None else path.with_name(f"{path.name}-reserve")
        self._left_over = 0

    def free_left_over(self) -> None:
        """Frees the space that a killed service had reserved, because SQLite needs space to recover its log."""
        if self._path is not None and self._path.exists():
            with suppress(OSError, ConfigError), locked(self._engine):  # unless another service is running
                self._left_over = self._path.stat().st_size
                self._path.unlink()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Holds the space (at most half of the free space) until the block ends."""
        if self._path is None:
            yield
            return
        with suppress(OSError):
            self._n_bytes = max(self._left_over, min(self._n_bytes, shutil.disk_usage(self._path.parent).free // 2))
        self._take(self._path)
        try:
            yield
        finally:
            self._path.unlink(missing_ok=True)

    def _take(self, path: Path) -> None:
        with suppress(OSError), open(path, "wb", opener=open_private, buffering=0) as file:
            while (left := self._n_bytes - file.tell()) > 0:
                file.write(os.urandom(min(left, 1_000_000)))  # random bytes, which no file system can compress

    def within(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` in a transaction, with the reserved space if the disk is full. Raises SQLAlchemyError."""
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except OperationalError as error:
            if not is_full(error) or self._path is None or not self._path.exists():
                raise
        self._path.unlink(missing_ok=True)
        try:
            self._empty_log()
            with self._engine.begin() as connection:
                return work(connection)
        finally:
            self._empty_log()
            self._take(self._path)

    def _empty_log(self) -> None:
        with suppress(SQLAlchemyError), self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def sole_use(engine: Engine) -> Iterator[None]:
    """Raises ConfigError if the file is locked or not writable. Transactions raise FileReplaced once it is gone."""
    path = file_of(engine)
    with locked(engine), nullcontext() if path is None else _watched(engine, path):
        yield


@contextmanager
def _watched(engine: Engine, path: Path) -> Iterator[None]:
    """Marks the file with a random number, which is compared before each transaction."""
    stamp = secrets.randbelow(2**31 - 1) + 1
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"PRAGMA user_version = {stamp}")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")  # writes the stamp to the file
    except SQLAlchemyError as error:
        raise unusable(engine.url.render_as_string(), error) from error
    # The descriptor stays open as long as SQLite uses the file, because closing it would release SQLite's locks.
    descriptor = open_private(str(path), os.O_RDONLY)
    expected = stamp.to_bytes(4, "big")

    def look(_connection: object) -> None:
        if not _is_ours(path, descriptor, expected):
            raise FileReplaced(f"{path} was deleted or replaced while the service was running; restart the service")

    event.listen(engine, "begin", look)
    try:
        yield
    finally:
        event.remove(engine, "begin", look)
        engine.dispose()
        os.close(descriptor)


def _is_ours(path: Path, descriptor: int, stamp: bytes) -> bool:
    try:
        found, opened = os.stat(path), os.fstat(descriptor)
        header = os.pread(descriptor, 100, 0) if hasattr(os, "pread") else _MAGIC.ljust(60, b"\x00") + stamp
    except OSError:
        return False
    is_same = (found.st_dev, found.st_ino) == (opened.st_dev, opened.st_ino)
    return is_same and header.startswith(_MAGIC) and header[_STAMP] == stamp


def shown(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(no database URL)"


def is_full(error: SQLAlchemyError) -> bool:
    """Whether the disk is full. SQLite can then only read and delete."""
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def is_contention(error: SQLAlchemyError) -> bool:
    """Whether another transaction was in the way (a deadlock, or a lock held for too long): the database works."""
    code = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
    return code.startswith(_ROLLED_BACK) or code == _LOCKED


def unusable(url: str, error: SQLAlchemyError) -> ConfigError:
    remedy = "; if its disk is full, free some space" if is_full(error) else ""
    return ConfigError(f"cannot use --database {shown(url)}: {said_by(error)}{remedy}")


def said_by(error: SQLAlchemyError) -> str:
    told = str(getattr(error, "orig", None) or (error if isinstance(error, FileReplaced) else type(error).__name__))
    return (told.strip().splitlines() or ["no reason was given"])[0]


def _set_up_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
