"""Jobs in a database: SQLite or PostgreSQL, through SQLAlchemy.

A job is one row: owner, kind and status by column, as lists are asked for, and the job itself as JSON. Its long texts
(request, events, result) stand apart, so that lists stay quick. JSON is kept as text, in which no character is refused
by a database: NUL is escaped.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    delete,
    event,
    insert,
    select,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from factloop.core.errors import ConfigError
from factloop.core.extras import missing
from factloop.core.files.private import make_private_database
from factloop.service.filtering import JobFilter
from factloop.service.shapes import Job
from factloop.service.sole import sole_use

FORMAT = 1
BACKENDS = ("sqlite", "postgresql")
ROWS_AT_ONCE = 100
TextName = Literal["request", "events", "result"]

log = logging.getLogger(__name__)

_META = MetaData()
_FORMAT = Table("factloop_format", _META, Column("format", Integer, primary_key=True))
_JOBS = Table(
    "factloop_jobs",
    _META,
    Column("id", String(32), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("job", Text, nullable=False),
)
_TEXTS = Table(
    "factloop_job_texts",
    _META,
    Column("job_id", String(32), ForeignKey("factloop_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(16), primary_key=True),
    Column("body", Text, nullable=False),
)
Index("factloop_jobs_of_owner", _JOBS.c.owner, _JOBS.c.id)
Index("factloop_jobs_by_status", _JOBS.c.status)


@dataclass(frozen=True)
class StoredJob:
    """A job with the fields that its callers do not see."""

    job: Job
    owner: str
    attempt: int = 0
    """How often the job was begun: more than once where the service was stopped meanwhile."""

    def changed(self, **values: Any) -> StoredJob:
        """The job with other values."""
        return replace(self, job=self.job.model_copy(update=values))


def new_job_id() -> str:
    """32 hexadecimal digits that sort by time and cannot be guessed."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


class JobStore:
    """The jobs of one service. Every method is one transaction, and blocks: call it outside the event loop."""

    def __init__(self, url: str, *, most_rows_read: int = 5_000) -> None:
        """Opens the database and makes its tables. Raises ConfigError, which never shows a password.

        `most_rows_read`: how many rows one request for a page reads, however few of them match.
        """
        self._most_rows_read = most_rows_read
        self._engine = _open(url)
        try:
            with self._engine.begin() as connection:
                _META.create_all(connection)
                found = connection.scalar(select(_FORMAT.c.format))
                if found is None:
                    connection.execute(insert(_FORMAT).values(format=FORMAT))
        except SQLAlchemyError as error:
            self._engine.dispose()
            raise ConfigError(f"--database {_shown(url)}: cannot be used ({reason_of(error)})") from error
        if found not in (None, FORMAT):
            self._engine.dispose()
            raise ConfigError(f"--database {_shown(url)}: was written by another version of factloop (format {found})")

    def held(self) -> AbstractContextManager[None]:
        """Holds the database: until it is left, no other service has it. Raises ConfigError if one has."""
        return sole_use(self._engine)

    def close(self) -> None:
        self._engine.dispose()

    def add(self, stored: StoredJob, request: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(insert(_JOBS).values(**_row(stored)))
            _write_texts(connection, stored.job.id, {"request": request})

    def save(self, stored: StoredJob, texts: Mapping[TextName, str] | None = None) -> None:
        """Saves the job's new state together with its texts. A job that was deleted meanwhile stays so."""
        with self._engine.begin() as connection:
            changed = connection.execute(update(_JOBS).where(_JOBS.c.id == stored.job.id).values(**_row(stored)))
            if changed.rowcount and texts:
                _write_texts(connection, stored.job.id, texts)

    def get(self, job_id: str, owner: str) -> StoredJob | None:
        """The job, if it is the owner's."""
        with self._engine.connect() as connection:
            found = connection.execute(select(_JOBS).where(_JOBS.c.id == job_id, _JOBS.c.owner == owner)).first()
        return None if found is None else _stored(found)

    def page(
        self, owner: str, *, limit: int, wanted: JobFilter | None = None, before: str | None = None
    ) -> tuple[list[StoredJob], str | None]:
        """The owner's newest jobs, those made before the job `before`; and before which to go on, None at the end.

        What no column tells is looked for in a bounded number of rows, so that no request holds up the others.
        """
        wanted = wanted or JobFilter()
        chosen = select(_JOBS).where(_JOBS.c.owner == owner).order_by(_JOBS.c.id.desc())
        if wanted.kind is not None:
            chosen = chosen.where(_JOBS.c.kind == wanted.kind)
        if wanted.status is not None:
            chosen = chosen.where(_JOBS.c.status == wanted.status)
        if before is not None:
            chosen = chosen.where(_JOBS.c.id < before)
        chosen = chosen.limit(self._most_rows_read + 1)
        with (
            self._engine.connect() as connection,
            connection.execution_options(yield_per=ROWS_AT_ONCE).execute(chosen) as rows,
        ):
            return _matching(rows, wanted, limit, self._most_rows_read)

    def unfinished(self) -> list[StoredJob]:
        """The unfinished jobs of all owners, oldest first."""
        wanted = select(_JOBS).where(_JOBS.c.status.in_(("queued", "running"))).order_by(_JOBS.c.id)
        with self._engine.connect() as connection:
            return [stored for row in connection.execute(wanted) if (stored := _stored(row)) is not None]

    def text(self, job_id: str, name: TextName) -> str | None:
        wanted = select(_TEXTS.c.body).where(_TEXTS.c.job_id == job_id, _TEXTS.c.name == name)
        with self._engine.connect() as connection:
            return connection.scalar(wanted)

    def delete(self, job_id: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(delete(_TEXTS).where(_TEXTS.c.job_id == job_id))
            connection.execute(delete(_JOBS).where(_JOBS.c.id == job_id))


def _open(url: str) -> Engine:
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() not in BACKENDS:
            raise ConfigError(f"--database {_shown(url)}: give sqlite:///FILE or postgresql+psycopg://...")
        if parsed.get_backend_name() == "postgresql" and "+" not in parsed.drivername:
            parsed = parsed.set(drivername="postgresql+psycopg")
        engine = create_engine(parsed, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(f"--database {_shown(url)}: give sqlite:///FILE or postgresql+psycopg://...") from error
    except ImportError as error:
        raise missing("postgres", "PostgreSQL") from error
    if parsed.get_backend_name() == "sqlite":
        if parsed.database and parsed.database != ":memory:" and not parsed.database.startswith("file:"):
            with suppress(OSError):  # SQLite says what is wrong
                make_private_database(Path(parsed.database))
        event.listen(engine, "connect", _set_up_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _shown(url: str) -> str:
    """The address without what may be a password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(no database URL)"


def reason_of(error: SQLAlchemyError) -> str:
    """The database's own first line."""
    origin = getattr(error, "orig", None)
    return (str(origin or type(error).__name__).strip().splitlines() or ["no reason given"])[0]


def _row(stored: StoredJob) -> dict[str, Any]:
    job = stored.job
    return {
        "id": job.id,
        "owner": stored.owner,
        "kind": job.kind,
        "status": job.status,
        "attempt": stored.attempt,
        "job": job.model_dump_json(),
    }


def _stored(row: Any) -> StoredJob | None:
    """The job; None for a row that factloop did not write, so that one unreadable row does not hide the others."""
    try:
        return StoredJob(Job.model_validate_json(row.job), row.owner, row.attempt)
    except ValidationError:
        log.warning("job %s: its row in the database cannot be read", row.id)
        return None


def _matching(rows: Iterable[Any], wanted: JobFilter, limit: int, most_rows: int) -> tuple[list[StoredJob], str | None]:
    """The first jobs that are wanted, and the last row that was read, None if there is none after it."""
    found: list[StoredJob] = []
    reached = None
    for number, row in enumerate(rows):
        if len(found) == limit or number == most_rows:
            return found, reached
        reached = row.id
        stored = _stored(row)
        if stored is not None and wanted.matches(stored.job):
            found.append(stored)
    return found, None


def _write_texts(connection: Connection, job_id: str, texts: Mapping[TextName, str]) -> None:
    names: Sequence[str] = list(texts)
    connection.execute(delete(_TEXTS).where(_TEXTS.c.job_id == job_id, _TEXTS.c.name.in_(names)))
    connection.execute(insert(_TEXTS), [{"job_id": job_id, "name": name, "body": body} for name, body in texts.items()])
