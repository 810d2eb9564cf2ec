"""The tables of jobs, and their format.

A job is one row: owner, kind and status by column, as lists are asked for, the service that has leased it, and the job
itself as JSON. Its long texts (request, events, result) stand apart, so that lists stay quick. JSON is kept as text, in
which no character is refused by a database: NUL is escaped.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    func,
    inspect,
    select,
    text,
)

from factloop.core.errors import ConfigError
from factloop.service.database import locked

FORMAT = 3
KEY = 0x666163746C6F6F70
"""Key of PostgreSQL's advisory locks: "factloop" in ASCII. Locks are those of one database."""

_META = MetaData()
FORMATS = Table("factloop_format", _META, Column("format", Integer, primary_key=True))
JOBS = Table(
    "factloop_jobs",
    _META,
    Column("id", String(32), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("job", Text, nullable=False),
    Column("leased_by", String(32)),
    Column("leased_until", Float(53)),  # seconds since the epoch by the database's clock; null: until it is given back
    Column("cancel_asked", Integer, nullable=False, server_default=text("0")),
)
TEXTS = Table(
    "factloop_job_texts",
    _META,
    Column("job_id", String(32), ForeignKey("factloop_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(16), primary_key=True),
    Column("body", Text, nullable=False),
)
REPEATS = Table(
    "factloop_repeats",
    _META,
    Column("owner", String(64), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("job_id", String(32), ForeignKey("factloop_jobs.id", ondelete="CASCADE"), nullable=False),
)
HITS = Table(
    "factloop_hits",
    _META,
    Column("whose", String(64), nullable=False),  # hash of the limit and of the caller, an address or a key's owner
    Column("until", Float(53), nullable=False),  # when it counts no more, by the database's clock
)
SPENDING = Table(
    "factloop_spending",
    _META,
    Column("job_id", String(32), primary_key=True),  # also of jobs that were deleted: they were paid for all the same
    Column("attempt", Integer, primary_key=True),
    Column("at", Float(53), nullable=False),  # seconds since the epoch
    Column("usd", Float(53), nullable=False),
    Column("calls", Integer, nullable=False),
    Column("is_open", Integer, nullable=False),  # 1: set aside for a job at work; 0: spent
    Column("owner", String(64), nullable=False, server_default=""),
)
Index("factloop_spending_by_time", SPENDING.c.at)
Index("factloop_hits_of_caller", HITS.c.whose, HITS.c.until)
Index("factloop_hits_by_time", HITS.c.until)
Index("factloop_jobs_of_owner", JOBS.c.owner, JOBS.c.id)
Index("factloop_jobs_by_status", JOBS.c.status)
Index("factloop_repeats_of_job", REPEATS.c.job_id)


def database_now() -> ColumnElement[float]:
    """Seconds since the epoch by the clock of a PostgreSQL database, which all its services share."""
    return func.date_part("epoch", func.clock_timestamp())


def hold_others_off(connection: Connection, what: str) -> None:
    """Lets no other service do `what` until the transaction ends. Without effect where the database is not shared."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT pg_advisory_xact_lock(hashtextextended(:what, :key))"), {"what": what, "key": KEY}
        )


def prepare(engine: Engine, shown: str) -> None:
    """Makes the tables that are missing. Raises ConfigError, SQLAlchemyError."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":  # several services may start at once
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": KEY + 1})
        _META.create_all(connection)
        found = connection.scalar(select(FORMATS.c.format))
        if found is None:
            connection.execute(FORMATS.insert().values(format=FORMAT))
        elif found == FORMAT - 1:
            with locked(engine):
                _upgrade(connection)
            found = FORMAT
    if found not in (None, FORMAT):
        raise ConfigError(f"--database {shown}: was written by another version of factloop (format {found})")


def _upgrade(connection: Connection) -> None:
    """SQLite keeps a new column even where what follows fails, so the column may be there."""
    if all(column["name"] != "owner" for column in inspect(connection).get_columns("factloop_spending")):
        connection.execute(text("ALTER TABLE factloop_spending ADD COLUMN owner VARCHAR(64) NOT NULL DEFAULT ''"))
    connection.execute(FORMATS.update().values(format=FORMAT))
