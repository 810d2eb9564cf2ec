"""Keeps one service to a database: two would begin each other's waiting jobs, and pay for them twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout
from sqlalchemy import Engine, text

from factloop.core.errors import ConfigError
from factloop.core.files.private import FILE_MODE

KEY = 0x666163746C6F6F70
"""Key of PostgreSQL's advisory lock: "factloop" in ASCII. Locks are those of one database."""


@contextmanager
def sole_use(engine: Engine) -> Iterator[None]:
    """Holds the database for this service alone; a kill releases it. Raises ConfigError if another service holds it.

    Blocks: enter and leave it outside the event loop.
    """
    held = _server_lock if engine.dialect.name == "postgresql" else _file_lock
    with held(engine):
        yield


@contextmanager
def _server_lock(engine: Engine) -> Iterator[None]:
    """Locks a database on a server: the lock ends with its connection, and no transaction stays open for it."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": KEY}):
            raise _taken(engine)
        try:
            yield
        finally:
            connection.invalidate()  # closed, rather than given back with the lock on it


@contextmanager
def _file_lock(engine: Engine) -> Iterator[None]:
    file = engine.url.database
    if not file or file == ":memory:":
        yield
        return
    lock = FileLock(f"{file}.lock", timeout=0, thread_local=False, mode=FILE_MODE)
    try:
        lock.acquire()
    except Timeout as error:
        raise _taken(engine) from error
    try:
        yield
    finally:
        lock.release()


def _taken(engine: Engine) -> ConfigError:
    shown = engine.url.render_as_string(hide_password=True)
    return ConfigError(f"--database {shown}: another service is at work with it; give each a database of its own")
