"""Copies all rows from one job database to another: a backup, a restore, or a move from SQLite to PostgreSQL."""

from __future__ import annotations

from contextlib import ExitStack

from sqlalchemy import Engine, delete, insert, inspect, select, update
from sqlalchemy.exc import SQLAlchemyError

from factloop.core.errors import ConfigError
from factloop.service.database import file_of, locked, open_database, open_to_read, said_by, shown
from factloop.service.store import ENDED
from factloop.service.tables import FORMAT, FORMATS, JOBS, METADATA, prepare

ROWS_AT_ONCE = 20  # few, because a row may contain a report of several megabytes


def copy_jobs(source: str, target: str) -> int:
    """Copies a consistent snapshot, even of a database in use. Returns the number of jobs. Raises ConfigError."""
    with ExitStack() as opened:
        try:
            reading = open_to_read(source)
            opened.callback(reading.dispose)
            _refuse_strange(reading, shown(source))
            writing = open_database(target)
            opened.callback(writing.dispose)
            prepare(writing, shown(target))
            opened.enter_context(locked(writing))
            return _copied(reading, writing)
        except SQLAlchemyError as error:
            raise ConfigError(f"cannot copy {shown(source)} to {shown(target)}: {said_by(error)}") from error


def _refuse_strange(source: Engine, where: str) -> None:
    file = file_of(source)
    if file is not None and not file.is_file():
        raise ConfigError(f"there is no database at {where}")
    if not inspect(source).has_table(FORMATS.name):
        raise ConfigError(f"{where} is not a factloop job database")
    with source.connect() as connection:
        found = connection.scalar(select(FORMATS.c.format))
    if found != FORMAT:
        raise ConfigError(f"{where} was written by another version of factloop (format {found}); use that version")


def _copied(source: Engine, target: Engine) -> int:
    with source.connect() as reading, target.begin() as writing:
        if source.dialect.name == "sqlite":
            reading.exec_driver_sql("BEGIN")  # otherwise each SELECT would see a different state
        else:
            reading.execution_options(isolation_level="REPEATABLE READ")
        if writing.execute(select(JOBS.c.id).limit(1)).first() is not None:
            where = shown(target.url.render_as_string())
            raise ConfigError(f"{where} already contains jobs; use a new database")
        n_jobs = 0
        for table in METADATA.sorted_tables:
            if table is FORMATS:
                continue
            writing.execute(delete(table))
            rows = reading.execute(select(table), execution_options={"yield_per": ROWS_AT_ONCE}).mappings()
            for some in rows.partitions():
                writing.execute(insert(table), [dict(row) for row in some])
                n_jobs += len(some) if table is JOBS else 0
        # No service is working on the copied jobs, and a lease from SQLite has no end, so it would never expire in
        # PostgreSQL.
        writing.execute(update(JOBS).where(JOBS.c.leased_by.is_not(None)).values(leased_until=ENDED))
        return n_jobs
