"""Jobs in a database: SQLite or PostgreSQL, through SQLAlchemy."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import ColumnElement, Connection, delete, func, insert, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from factloop.core.errors import ConfigError
from factloop.reports.labels import GivenLabel
from factloop.service.database import SILENT_S, open_database, said_by, shown, sole_use
from factloop.service.shapes import CheckSummary, Job, Kind, LongFormSummary, Outcome, Status, title_of
from factloop.service.spending import DayLimits
from factloop.service.tables import FORMATS, JOBS, REPEATS, TEXTS, hold_others_off, prepare
from factloop.setup.limits import Limits

ROWS_AT_ONCE = 100
UNFINISHED = ("queued", "running")
ENDED = 0.0
"""The end of a lease whose service is known to have died."""
WAITING = or_(JOBS.c.leased_by.is_(None), JOBS.c.leased_until == ENDED)
"""Jobs, of those not over, that no service has."""
TextName = Literal["request", "events", "result", "labels"]
_LABELS: TypeAdapter[dict[str, GivenLabel]] = TypeAdapter(dict[str, GivenLabel])

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoredJob:
    """A job with the fields that its callers do not see."""

    job: Job
    owner: str
    attempt: int = 0
    """How often the job was begun: more than once where a service was stopped meanwhile."""

    @property
    def is_over(self) -> bool:
        return self.job.status not in UNFINISHED

    def changed(self, **values: Any) -> StoredJob:
        """The job with other values."""
        return replace(self, job=self.job.model_copy(update=values))


@dataclass(frozen=True)
class JobFilter:
    """The jobs that a list is asked for; None and an empty text ask for all."""

    kind: Kind | None = None
    status: Status | None = None
    outcome: Outcome | None = None
    text: str = ""
    """Each of its words must be somewhere in what a list shows of the job."""

    def matches(self, job: Job) -> bool:
        return (
            self.kind in (None, job.kind)
            and self.status in (None, job.status)
            and (self.outcome is None or self.outcome in _outcomes(job))
            and all(word in _listed(job) for word in self.text.casefold().split())
        )


@dataclass(frozen=True)
class Repeat:
    """The name that a caller gives a request, so that the request is done once however often it is sent."""

    key: str
    digest: str
    """Hash of what is asked for."""


@dataclass(frozen=True)
class Room:
    """The jobs that may be unfinished when another one is added."""

    service: str
    """The service that adds it."""
    most: int
    """Jobs that wait for any service or are at work in this one. A caller's only job is added all the same."""
    day: DayLimits | None = None
    """What the jobs of a day may cost, over all services."""
    most_each: int | None = None
    """The same for the jobs of one caller."""


class NoRoom(Exception):
    """Too many jobs are unfinished."""


class OtherRequest(Exception):
    """The name of the request stands for another one."""


def new_job_id() -> str:
    """32 hexadecimal digits that sort by time and cannot be guessed."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


def new_job(
    kind: Kind, title: str, *, answer: str = "", against: str = "", limits: Limits | None = None, request_id: str = ""
) -> Job:
    """A job that was asked for now."""
    return Job(
        id=new_job_id(),
        kind=kind,
        status="queued",
        title=title_of(title),
        answer=title_of(answer),
        against=against,
        limits=limits,
        created_at=datetime.now(UTC),
        request_id=request_id,
    )


def first_id_of(moment: datetime) -> str:
    """The least id of a job that is made at this moment."""
    return f"{max(0, int(moment.timestamp() * 1_000_000) * 1_000):016x}{'0' * 16}"


class JobStore:
    """The jobs of a database. Every method is one transaction, and blocks: call it outside the event loop."""

    def __init__(self, url: str, *, most_rows_read: int = 5_000, silent_s: float = SILENT_S) -> None:
        """Opens the database and makes its tables. Raises ConfigError, which never shows a password.

        `most_rows_read`: how many rows one request for a page reads, however few of them match. `silent_s`: seconds
        to wait for a server that says nothing.
        """
        self._most_rows_read = most_rows_read
        self.engine = open_database(url, silent_s=silent_s)
        try:
            prepare(self.engine, shown(url))
        except (ConfigError, SQLAlchemyError) as error:
            self.engine.dispose()
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(f"--database {shown(url)}: cannot be used ({said_by(error)})") from error

    @property
    def is_shared(self) -> bool:
        """Whether several services may use the database at once."""
        return self.engine.dialect.name == "postgresql"

    def held(self) -> AbstractContextManager[None]:
        """Holds a database that is not shared: until it is left, no other service has it. Raises ConfigError."""
        return sole_use(self.engine)

    def close(self) -> None:
        self.engine.dispose()

    def probe(self) -> None:
        """Writes a row, as the next job would. Raises SQLAlchemyError where the database does not take it."""
        with self.engine.begin() as connection:
            connection.execute(update(FORMATS).values(format=FORMATS.c.format))

    def add(self, stored: StoredJob, request: str, repeat: Repeat | None = None, room: Room | None = None) -> StoredJob:
        """Adds a job, or finds the one that `repeat` stands for. Raises NoRoom, DayOver, OtherRequest."""
        with self.engine.begin() as connection:
            if repeat is not None or room is not None:
                hold_others_off(connection, "add a job")
            if repeat is not None and (earlier := _repeated(connection, stored.owner, repeat)) is not None:
                return earlier
            if room is not None:
                _look_for_room(connection, room, stored.owner)
                if room.day is not None:
                    room.day.refuse(connection, stored.owner, stored.job.kind)
            connection.execute(insert(JOBS).values(**row_of(stored)))
            write_texts(connection, stored.job.id, {"request": request})
            if repeat is not None:
                of_job = {"owner": stored.owner, "job_id": stored.job.id}
                connection.execute(insert(REPEATS).values(key=repeat.key, digest=repeat.digest, **of_job))
        return stored

    def get(self, job_id: str, owner: str) -> StoredJob | None:
        """The job, if it is the owner's."""
        with self.engine.connect() as connection:
            found = connection.execute(select(JOBS).where(JOBS.c.id == job_id, JOBS.c.owner == owner)).first()
        return None if found is None else stored_of(found)

    def page(
        self, owner: str, *, limit: int, wanted: JobFilter | None = None, before: str | None = None
    ) -> tuple[list[StoredJob], str | None]:
        """The owner's newest jobs, those made before the job `before`; and before which to go on, None at the end.

        What no column tells is looked for in a bounded number of rows, so that no request holds up the others.
        """
        wanted = wanted or JobFilter()
        chosen = select(JOBS).where(JOBS.c.owner == owner).order_by(JOBS.c.id.desc())
        if wanted.kind is not None:
            chosen = chosen.where(JOBS.c.kind == wanted.kind)
        if wanted.status is not None:
            chosen = chosen.where(JOBS.c.status == wanted.status)
        if before is not None:
            chosen = chosen.where(JOBS.c.id < before)
        chosen = chosen.limit(self._most_rows_read + 1)
        with (
            self.engine.connect() as connection,
            connection.execution_options(yield_per=ROWS_AT_ONCE).execute(chosen) as rows,
        ):
            return _matching(rows, wanted, limit, self._most_rows_read)

    def text(self, job_id: str, name: TextName) -> str | None:
        wanted = select(TEXTS.c.body).where(TEXTS.c.job_id == job_id, TEXTS.c.name == name)
        with self.engine.connect() as connection:
            return connection.scalar(wanted)

    def change_label(self, job_id: str, claim_id: str, label: GivenLabel | None) -> GivenLabel | None:
        """Keeps a person's label of a claim, or forgets it where it is None. Returns the one before it.

        Raises LookupError for a job that is not there.
        """
        with self.engine.begin() as connection:
            # One after the other, in whichever service: the row is held until the end.
            if not connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(status=JOBS.c.status)).rowcount:
                raise LookupError(job_id)
            kept = connection.scalar(select(TEXTS.c.body).where(TEXTS.c.job_id == job_id, TEXTS.c.name == "labels"))
            labels = read_labels(kept)
            before = labels.pop(claim_id, None)
            if label is not None:
                labels[claim_id] = label
            write_texts(connection, job_id, {"labels": _LABELS.dump_json(labels).decode()})
        return before

    def delete(self, job_id: str) -> None:
        with self.engine.begin() as connection:
            _delete(connection, [job_id])

    def delete_older(self, than: datetime, owner: str | None = None) -> int:
        """Forgets finished jobs that were made before; of one owner, or of all. Returns how many."""
        finished: list[ColumnElement[bool]] = [JOBS.c.status.not_in(UNFINISHED), JOBS.c.id < first_id_of(than)]
        if owner is not None:
            finished.append(JOBS.c.owner == owner)
        n_deleted = 0
        while True:  # a few at a time: other requests come in between
            with self.engine.begin() as connection:
                ids = list(connection.scalars(select(JOBS.c.id).where(*finished).limit(ROWS_AT_ONCE)))
                _delete(connection, ids)
            n_deleted += len(ids)
            if len(ids) < ROWS_AT_ONCE:
                return n_deleted

    def forget_spending(self, day: DayLimits) -> None:
        """Forgets what was spent longer ago than a day."""
        with self.engine.begin() as connection:
            day.forget(connection)

    def forget_repeats(self, than: datetime) -> None:
        """Forgets the names of requests that were made before; their jobs stay."""
        with self.engine.begin() as connection:
            connection.execute(delete(REPEATS).where(REPEATS.c.job_id < first_id_of(than)))

    def finished(self, job_ids: Sequence[str]) -> set[str]:
        """Those of the jobs that are known and over."""
        wanted = select(JOBS.c.id).where(JOBS.c.id.in_(job_ids), JOBS.c.status.not_in(UNFINISHED))
        with self.engine.connect() as connection:
            return set(connection.scalars(wanted))


def read_labels(text: str | None) -> dict[str, GivenLabel]:
    """The labels of a job by the ids of their claims."""
    return {} if text is None else _LABELS.validate_json(text)


def row_of(stored: StoredJob) -> dict[str, Any]:
    job = stored.job
    return {
        "id": job.id,
        "owner": stored.owner,
        "kind": job.kind,
        "status": job.status,
        "attempt": stored.attempt,
        "job": job.model_dump_json(),
    }


def stored_of(row: Any) -> StoredJob | None:
    """The job; None for a row that factloop did not write, so that one unreadable row does not hide the others."""
    try:
        return StoredJob(Job.model_validate_json(row.job), row.owner, row.attempt)
    except ValidationError:
        log.warning("job %s: its row in the database cannot be read", row.id)
        return None


def write_texts(connection: Connection, job_id: str, texts: Mapping[TextName, str]) -> None:
    names: Sequence[str] = list(texts)
    connection.execute(delete(TEXTS).where(TEXTS.c.job_id == job_id, TEXTS.c.name.in_(names)))
    connection.execute(insert(TEXTS), [{"job_id": job_id, "name": name, "body": body} for name, body in texts.items()])


def _repeated(connection: Connection, owner: str, repeat: Repeat) -> StoredJob | None:
    found = connection.execute(
        select(REPEATS.c.digest, JOBS)
        .join(JOBS, JOBS.c.id == REPEATS.c.job_id)
        .where(REPEATS.c.owner == owner, REPEATS.c.key == repeat.key)
    ).first()
    if found is None:
        return None
    if found.digest != repeat.digest:
        raise OtherRequest
    return stored_of(found)


def _look_for_room(connection: Connection, room: Room, owner: str) -> None:
    of_ours = or_(WAITING, JOBS.c.leased_by == room.service)
    unfinished = select(func.count()).select_from(JOBS).where(JOBS.c.status.in_(UNFINISHED), of_ours)
    n_unfinished, n_theirs = (
        connection.scalar(one) or 0 for one in (unfinished, unfinished.where(JOBS.c.owner == owner))
    )
    if n_theirs and n_unfinished >= room.most:
        raise NoRoom("too many jobs are waiting")
    if room.most_each is not None and n_theirs >= room.most_each:
        raise NoRoom(f"{room.most_each} of your jobs are unfinished, as many as one key may have")


def _delete(connection: Connection, job_ids: Sequence[str]) -> None:
    for table, column in ((REPEATS, REPEATS.c.job_id), (TEXTS, TEXTS.c.job_id), (JOBS, JOBS.c.id)):
        connection.execute(delete(table).where(column.in_(job_ids)))


def _matching(rows: Iterable[Any], wanted: JobFilter, limit: int, most_rows: int) -> tuple[list[StoredJob], str | None]:
    """The first jobs that are wanted, and the last row that was read, None if there is none after it."""
    found: list[StoredJob] = []
    reached = None
    for number, row in enumerate(rows):
        if len(found) == limit or number == most_rows:
            return found, reached
        reached = row.id
        stored = stored_of(row)
        if stored is not None and wanted.matches(stored.job):
            found.append(stored)
    return found, None


def _outcomes(job: Job) -> set[Outcome]:
    summary = job.summary
    if not isinstance(summary, CheckSummary | LongFormSummary):
        return set()
    counts = summary.counts
    found: dict[Outcome, bool] = {
        "problems": counts.not_supported > 0,
        "no_problems": counts.not_supported == 0,
        "contradicted": summary.n_contradicted > 0,
        "no_evidence": counts.not_supported > summary.n_contradicted,
        "unscored": counts.unscored > 0,
    }
    return {outcome for outcome, is_so in found.items() if is_so}


def _listed(job: Job) -> str:
    """What a list shows of a job, in lower case."""
    judge = getattr(job.summary, "judge", "")
    error = "" if job.error is None else job.error.message
    return " ".join((job.title, job.answer, job.against, judge, error)).casefold()
