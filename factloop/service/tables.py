"""The tables for jobs, and the version of their format.

Each job is a row with the job as JSON. Other columns serve to filter lists and to lease jobs. Long texts have their own
table, so that lists stay fast.
"""

from __future__ import annotations

import time
from contextlib import nullcontext

from sqlalchemy import (
    BigInteger,
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
from factloop.service.migrations import upgrade

FORMAT, FIRST_FORMAT = 5, 4
"""The current format of the tables, and the oldest format that can be upgraded."""
KEY = 0x666163746C6F6F70
""""factloop" in ASCII. Identifies factloop's advisory locks in PostgreSQL."""

METADATA = MetaData()
FORMATS = Table(
    "factloop_format",
    METADATA,
    Column("format", Integer, primary_key=True),
    Column("probe", Text),  # written to test whether there is space
)
JOBS = Table(
    "factloop_jobs",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("job", Text, nullable=False),
    Column("leased_by", String(32)),
    Column("leased_until", Float(53)),  # seconds since the epoch by the database's clock; null: never expires
    Column("cancel_asked", Integer, nullable=False, server_default=text("0")),
)
TEXTS = Table(
    "factloop_job_texts",
    METADATA,
    Column("job_id", String(32), ForeignKey("factloop_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(16), primary_key=True),
    Column("body", Text, nullable=False),
    Column("owner", String(64), nullable=False, server_default=""),
    Column("n_bytes", BigInteger, nullable=False, server_default="0"),  # with the row's share of the tables
)
REPEATS = Table(
    "factloop_repeats",
    METADATA,
    Column("owner", String(64), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("job_id", String(32), ForeignKey("factloop_jobs.id", ondelete="CASCADE"), nullable=False),
)
HITS = Table(
    "factloop_hits",
    METADATA,
    Column("whose", String(64), nullable=False),  # hash of the limit and of the caller (IP address or key owner)
    Column("until", Float(53), nullable=False),  # when the request no longer counts, by the database's clock
)
SPENDING = Table(
    "factloop_spending",
    METADATA,
    Column("job_id", String(32), primary_key=True),  # includes deleted jobs, which were also paid for
    Column("attempt", Integer, primary_key=True),
    Column("at", Float(53), nullable=False),  # seconds since the epoch
    Column("usd", Float(53), nullable=False),
    Column("calls", Integer, nullable=False),
    Column("is_open", Integer, nullable=False),  # 1: reserved for a running job; 0: spent
    Column("owner", String(64), nullable=False, server_default=""),
)
Index("factloop_spending_by_time", SPENDING.c.at)
Index("factloop_hits_of_caller", HITS.c.whose, HITS.c.until)
Index("factloop_hits_by_time", HITS.c.until)
Index("factloop_jobs_of_owner", JOBS.c.owner, JOBS.c.id)
Index("factloop_texts_of_owner", TEXTS.c.owner, TEXTS.c.n_bytes)
Index("factloop_jobs_by_status", JOBS.c.status)
Index("factloop_repeats_of_job", REPEATS.c.job_id)


def database_now() -> ColumnElement[float]:
    """Seconds since the epoch by the PostgreSQL server's clock, which all services share."""
    return func.date_part("epoch", func.clock_timestamp())


def time_of(connection: Connection) -> float:
    """Seconds since the epoch, by the clock that all services of this database share."""
    is_shared = connection.dialect.name == "postgresql"
    return float(connection.scalar(select(database_now())) or 0.0) if is_shared else time.time()


def hold_others_off(connection: Connection, what: str) -> None:
    """If the database is shared, prevents other services from doing `what` until the transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT pg_advisory_xact_lock(hashtextextended(:what, :key))"), {"what": what, "key": KEY}
        )


def prepare(engine: Engine, shown: str) -> None:
    """Creates the tables, or upgrades those in an earlier format. Raises ConfigError or SQLAlchemyError."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":  # several services may start at the same time
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": KEY + 1})
        else:
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # otherwise, earlier steps would be kept if a later one fails
        has_tables = inspect(connection).has_table(FORMATS.name)
        found = connection.scalar(select(FORMATS.c.format)) if has_tables else None
        if found == FORMAT:
            return
        if has_tables and not (isinstance(found, int) and FIRST_FORMAT <= found < FORMAT):
            raise ConfigError(
                f"--database {shown} was written by another version of factloop (format {found}); use that version"
            )
        with nullcontext() if found is None else locked(engine):
            if found is None:
                METADATA.create_all(connection)
            upgrade(connection, found or FORMAT)
            new = FORMATS.insert() if found is None else FORMATS.update()
            connection.execute(new.values(format=FORMAT))
