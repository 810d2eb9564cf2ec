"""Opens the database of jobs: SQLite for one service, PostgreSQL for several."""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from factloop.core.errors import ConfigError
from factloop.core.extras import missing
from factloop.core.files.private import FILE_MODE, make_private_database, open_private

LOST_AFTER_S = 10
"""Seconds to wait for a connection that is lost."""
SILENT_S = 30.0
"""Seconds to wait for a server that takes a statement and says nothing."""
_TO_A_SERVER = {
    "connect_timeout": LOST_AFTER_S,
    "keepalives_idle": LOST_AFTER_S,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 1_000 * LOST_AFTER_S,
}
_MAGIC = b"SQLite format 3\x00"
_STAMP = slice(60, 64)
"""Where the header of a SQLite file has `user_version`."""
_NOTHING_CAME = 0
"""The state in which psycopg goes on with a statement from time to time."""


class FileReplaced(SQLAlchemyError):
    """The file of the database is no longer the one that was opened."""


def open_database(url: str, *, silent_s: float = SILENT_S) -> Engine:
    """The engine; nothing is connected yet, except that a SQLite file is made. Raises ConfigError."""
    engine = _engine_of(url, silent_s)
    if engine.dialect.name == "sqlite":
        if (path := file_of(engine)) is not None:
            with suppress(OSError):  # SQLite says what is wrong
                make_private_database(path)
        event.listen(engine, "connect", _set_up_sqlite)
    return engine


def open_to_read(url: str, *, silent_s: float = SILENT_S) -> Engine:
    """The engine of a database that is only looked at: no file is made, and none changed. Raises ConfigError."""
    engine = _engine_of(url, silent_s)
    path = file_of(engine)
    if path is None:
        return engine.execution_options(postgresql_readonly=True)
    return create_engine(engine.url, creator=partial(_connect_to_read, path))


def _engine_of(url: str, silent_s: float) -> Engine:
    wrong = f"--database {shown(url)}: give sqlite:///FILE or postgresql+psycopg://..."
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            return create_engine(parsed, pool_pre_ping=True)
        if parsed.get_backend_name() != "postgresql":
            raise ConfigError(wrong)
        if "+" not in parsed.drivername:
            parsed = parsed.set(drivername="postgresql+psycopg")
        # The parameters of the address itself go first.
        given: dict[str, Any] = {name: value for name, value in _TO_A_SERVER.items() if name not in parsed.query}
        if parsed.drivername != "postgresql+psycopg":
            return create_engine(parsed, pool_pre_ping=True, connect_args=given)
        given["prepare_threshold"] = None  # a pool between may give each transaction another connection
        engine = create_engine(parsed, pool_pre_ping=True, connect_args=given)
        _bound_silence(engine, silent_s)
        return engine
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(wrong) from error
    except ImportError as error:
        raise missing("postgres", "PostgreSQL") from error


def _bound_silence(engine: Engine, seconds: float) -> None:
    """Makes connections to PostgreSQL end a statement after so many seconds without a word from the server.

    TCP sees no fault in a server that hangs, and PostgreSQL's own time limits need a server that works.
    """
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
                    connection.close()  # a late answer would be taken for that to the next statement
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
    """A connection that writes nothing. A service at work has a log beside its file, which is read with it.

    Without one SQLite would make a log for its readers and leave it behind, unless told that no one writes.
    """
    how = "mode=ro" if Path(f"{path}-wal").exists() else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, check_same_thread=False)


def file_of(engine: Engine) -> Path | None:
    """The file of a SQLite database; None for one in memory or on a server."""
    name = engine.url.database
    if engine.dialect.name != "sqlite" or not name or name == ":memory:" or name.startswith("file:"):
        return None
    return Path(name)


@contextmanager
def locked(engine: Engine) -> Iterator[None]:
    """Keeps other services off a SQLite file; a kill releases it. Raises ConfigError if another service holds it."""
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
            f"--database {where}: another service is using it; give each a file of its own, "
            "or let them share a PostgreSQL database"
        ) from error


@contextmanager
def sole_use(engine: Engine) -> Iterator[None]:
    """Holds a SQLite file for this service alone. Raises ConfigError if another service holds it.

    Meanwhile each transaction raises FileReplaced if the file was deleted or overwritten since it was opened: anything
    written then would be gone at the next start.
    """
    path = file_of(engine)
    with locked(engine), nullcontext() if path is None else _watched(engine, path):
        yield


@contextmanager
def _watched(engine: Engine, path: Path) -> Iterator[None]:
    """Marks the file with a random number, and looks for that before each transaction."""
    stamp = secrets.randbelow(2**31 - 1) + 1
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"PRAGMA user_version = {stamp}")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")  # so that it is in the file
    # Open for as long as SQLite has the file open: closing it would drop SQLite's locks.
    descriptor = open_private(str(path), os.O_RDONLY)
    expected = stamp.to_bytes(4, "big")

    def look(_connection: object) -> None:
        if not _is_ours(path, descriptor, expected):
            raise FileReplaced(f"{path} was deleted or replaced while the service ran; start the service again")

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
    """The address without what may be a password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(no database URL)"


def said_by(error: SQLAlchemyError) -> str:
    """The first line of the database's own message, or of ours."""
    told = str(getattr(error, "orig", None) or (error if isinstance(error, FileReplaced) else type(error).__name__))
    return (told.strip().splitlines() or ["no reason given"])[0]


def _set_up_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
