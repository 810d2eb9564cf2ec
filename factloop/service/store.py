"""Stores jobs in SQLite or PostgreSQL, through SQLAlchemy."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from sqlalchemy import ColumnElement, Connection, delete, func, insert, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from factloop.core.errors import ConfigError
from factloop.reports.figures import title_of
from factloop.reports.labels import GivenLabel
from factloop.service.database import (
    LOG_BYTES,
    SILENT_S,
    Reserve,
    bound_locks,
    open_database,
    shown,
    sole_use,
    unusable,
)
from factloop.service.errors import RequestRefusal, read_saved
from factloop.service.shapes import Job, Kind, Outcome, Status
from factloop.service.spending import DayLimits
from factloop.service.tables import FORMATS, JOBS, REPEATS, TEXTS, hold_others_off, prepare, time_of
from factloop.setup.limits import Limits

ROWS_AT_ONCE = 100
DELETED_AT_ONCE = 20  # few, so that other calls need not wait long
MOST_LABELS = 4_000_000  # maximum number of bytes of a job's labels, which are all written for each change
PROBE_BYTES = 16_384
UNFINISHED = ("queued", "running")
BYTES_OF_ROW = 1_000  # a text's share of its job's rows and indexes
LONGEST_TEXT = 1_000_000_000  # more characters than any text contains
ENDED = 0.0  # end of a lease whose service is known to have died
WAITING = or_(JOBS.c.leased_by.is_(None), JOBS.c.leased_until == ENDED)  # unfinished jobs that no service has leased
TextName = Literal["request", "events", "result", "labels"]
_LABELS: TypeAdapter[dict[str, GivenLabel]] = TypeAdapter(dict[str, GivenLabel])

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class StoredJob:
    """A job, with fields that callers do not see."""

    job: Job
    owner: str
    attempt: int = 0
    """How many times the job was started. More than once if a service stopped before the job ended."""

    @property
    def is_over(self) -> bool:
        return self.job.status not in UNFINISHED

    def changed(self, **values: Any) -> StoredJob:
        return replace(self, job=self.job.model_copy(update=values))


@dataclass(frozen=True)
class JobFilter:
    """A filter for a list of jobs. None and empty text match all jobs."""

    kind: Kind | None = None
    status: Status | None = None
    outcome: Outcome | None = None
    text: str = ""
    """Words that must all occur in the fields of the job that lists show."""

    def matches(self, job: str) -> bool:
        """`job` is JSON. This is much faster than validating it."""
        if self.outcome is None and not self.text:
            return True
        with suppress(ValueError, AttributeError, TypeError):  # an unreadable row
            listed = _listed(shown := from_json(job))
            has_outcome = self.outcome is None or self.outcome in _outcomes(shown)
            return has_outcome and all(word in listed for word in self.text.casefold().split())
        return False


@dataclass(frozen=True)
class Repeat:
    """A caller's name for a request, which ensures that a repeated request is carried out only once."""

    key: str
    digest: str


@dataclass(frozen=True)
class Room:
    """Limits on unfinished jobs, which apply when a job is added."""

    service: str
    """The service that adds the job."""
    most: int
    """Waiting and running jobs in this service. A caller without jobs can always add one."""
    day: DayLimits | None = None
    """Across all services."""
    most_each: int | None = None
    """Waiting and running jobs per caller."""


class NoRoom(Exception):
    """There are too many unfinished jobs."""


class OtherRequest(Exception):
    """The request's name was already used for a different request."""


def new_job_id() -> str:
    """32 hexadecimal digits that sort by time and cannot be guessed."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


def new_job(
    kind: Kind, title: str, *, answer: str = "", against: str = "", limits: Limits | None = None, request_id: str = ""
) -> Job:
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


def made_at(job_id: str) -> float:
    """In seconds since the epoch."""
    return int(job_id[:16], 16) / 1e9


def first_id_of(moment: datetime) -> str:
    """The smallest possible id of a job created at this moment."""
    return f"{max(0, int(moment.timestamp() * 1_000_000) * 1_000):016x}{'0' * 16}"


class JobStore:
    """The jobs in a database. Every method blocks and runs in one transaction."""

    def __init__(
        self,
        url: str,
        *,
        most_rows_read: int = 2_500,
        most_bytes: int = 8_000_000,
        most_kept: int = 2**62,
        silent_s: float = SILENT_S,
    ) -> None:
        """Opens the database and creates its tables. Raises ConfigError with a message that never reveals a password.

        `most_rows_read` limits how many rows are read for one page, even if few of them match. `most_bytes` is the
        maximum size of a request. This determines how much disk space is reserved, because deleting rows takes space
        for a request and its report. `most_kept` is how many bytes each owner's jobs may take up. `silent_s` is how
        many seconds to wait for a server that does not respond.
        """
        self._most_rows_read, self._most_kept = most_rows_read, most_kept
        self.engine = open_database(url, silent_s=silent_s)
        self._reserve = Reserve(self.engine, LOG_BYTES + 2 * most_bytes)
        try:
            self._reserve.free_left_over()
            prepare(self.engine, shown(url))
            bound_locks(self.engine)
        except (ConfigError, SQLAlchemyError) as error:
            self.engine.dispose()
            if isinstance(error, ConfigError):
                raise
            raise unusable(url, error) from error

    @property
    def is_shared(self) -> bool:
        """Whether several services may use the database at the same time."""
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Locks the database, unless it is shared. Raises ConfigError."""
        with sole_use(self.engine), self._reserve.taken():
            yield

    def close(self) -> None:
        self.engine.dispose()

    def probe(self) -> None:
        """Writes as much data as a small job needs. Raises SQLAlchemyError if this fails."""
        with self.engine.begin() as connection:
            connection.execute(update(FORMATS).values(probe=secrets.token_hex(PROBE_BYTES // 2)))

    def add(self, stored: StoredJob, request: str, repeat: Repeat | None = None, room: Room | None = None) -> StoredJob:
        """Adds a job, or returns the earlier job that `repeat` identifies. Raises NoRoom, DayOver or OtherRequest,
        or RequestRefusal if the owner's jobs take up too much space."""
        with self.engine.begin() as connection:
            if repeat is not None or room is not None:
                hold_others_off(connection, "add a job")
            if repeat is not None and (earlier := _repeated(connection, stored.owner, repeat)) is not None:
                return earlier
            if room is not None:
                _look_for_room(connection, room, stored.owner)
                if room.day is not None:
                    room.day.refuse(connection, stored.owner, stored.job.kind)
            self.refuse_full(connection, stored.owner)
            connection.execute(insert(JOBS).values(**row_of(stored)))
            write_texts(connection, stored.job.id, stored.owner, {"request": request})
            if repeat is not None:
                of_job = {"owner": stored.owner, "job_id": stored.job.id}
                connection.execute(insert(REPEATS).values(key=repeat.key, digest=repeat.digest, **of_job))
        return stored

    def refuse_full(self, connection: Connection, owner: str) -> None:
        """Raises RequestRefusal if the owner's jobs take up all the space that one caller may use."""
        kept = int(connection.scalar(select(func.sum(TEXTS.c.n_bytes)).where(TEXTS.c.owner == owner)) or 0)
        if kept >= self._most_kept:
            message = (
                f"your jobs take up {kept / 1e6:.1f} MB, and max_kept_mb is {self._most_kept / 1e6:.1f}; delete some, "
                "for example all jobs older than 30 days with DELETE /v1/jobs?older_than_days=30"
            )
            raise RequestRefusal(507, "storage_full", message)

    def get(self, job_id: str, owner: str) -> StoredJob | None:
        """None if the job does not belong to the owner."""
        with self.engine.connect() as connection:
            found = connection.execute(select(JOBS).where(JOBS.c.id == job_id, JOBS.c.owner == owner)).first()
        return None if found is None else stored_of(found)

    def page(
        self, owner: str, *, limit: int, wanted: JobFilter | None = None, before: str | None = None
    ) -> tuple[list[StoredJob], str | None]:
        """The owner's newest jobs before `before`, and the `before` of the next page (None on the last page).

        Only a limited number of rows is read, so a page may have few jobs although more follow."""
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

    def waiting(self) -> tuple[int, str | None]:
        wanted = select(func.count(), func.min(JOBS.c.id)).where(JOBS.c.status.in_(UNFINISHED), WAITING)
        with self.engine.connect() as connection:
            n_waiting, oldest = connection.execute(wanted).one()
        return n_waiting, oldest

    def text(self, job_id: str, name: TextName, start: int = 0, most: int = LONGEST_TEXT) -> str | None:
        """Up to `most` characters of a text, from `start` onwards, or None if there is no such text."""
        wanted = select(func.substr(TEXTS.c.body, start + 1, most)).where(
            TEXTS.c.job_id == job_id, TEXTS.c.name == name
        )
        with self.engine.connect() as connection:
            return connection.scalar(wanted)

    def change_label(self, job_id: str, claim_id: str, label: GivenLabel | None) -> GivenLabel | None:
        """Saves a claim's label, or deletes it if `label` is None. Returns the previous label. Raises LookupError,
        or RequestRefusal if there is no space for a new label."""
        with self.engine.begin() as connection:
            # the row stays locked, so that only one service at a time changes labels
            locked = update(JOBS).where(JOBS.c.id == job_id).values(status=JOBS.c.status)
            if (owner := connection.scalar(locked.returning(JOBS.c.owner))) is None:
                raise LookupError(job_id)
            kept = connection.scalar(select(TEXTS.c.body).where(TEXTS.c.job_id == job_id, TEXTS.c.name == "labels"))
            labels = read_labels(kept)
            before = labels.pop(claim_id, None)
            if label is not None:
                self.refuse_full(connection, owner)
                labels[claim_id] = label
            written = _LABELS.dump_json(labels)
            if label is not None and len(written) > MOST_LABELS:
                message = f"the labels of a check may have {MOST_LABELS:,} bytes; shorten or remove some comments"
                raise RequestRefusal(507, "storage_full", message)
            write_texts(connection, job_id, owner, {"labels": written.decode()})
        return before

    def delete(self, job_id: str) -> None:
        self._reserve.within(partial(_delete, job_ids=[job_id]))

    def delete_some(self, days: float, owner: str | None = None) -> int | None:
        """Deletes some of the finished jobs (one owner's or everyone's) that were created more than `days` ago. Returns
        how many (0 if another service deleted them first), or None if there are none."""

        def delete(connection: Connection) -> int | None:
            than = datetime.fromtimestamp(time_of(connection), UTC) - timedelta(days=days)
            finished: list[ColumnElement[bool]] = [JOBS.c.status.not_in(UNFINISHED), JOBS.c.id < first_id_of(than)]
            if owner is not None:
                finished.append(JOBS.c.owner == owner)
            some = select(JOBS.c.id).where(*finished).order_by(JOBS.c.id).limit(DELETED_AT_ONCE)
            ids = list(connection.scalars(some))
            return _delete(connection, ids) if ids else None

        return self._reserve.within(delete)

    def within(self, call: Callable[[Connection], T]) -> T:
        with self.engine.begin() as connection:
            return call(connection)

    def forget_repeats(self, hours: float) -> None:
        """Deletes the names of requests made more than `hours` ago, but not their jobs."""
        with self.engine.begin() as connection:
            than = datetime.fromtimestamp(time_of(connection), UTC) - timedelta(hours=hours)
            connection.execute(delete(REPEATS).where(REPEATS.c.job_id < first_id_of(than)))

    def finished(self, job_ids: Sequence[str]) -> set[str]:
        wanted = select(JOBS.c.id).where(JOBS.c.id.in_(job_ids), JOBS.c.status.not_in(UNFINISHED))
        with self.engine.connect() as connection:
            return set(connection.scalars(wanted))


def read_labels(text: str | None) -> dict[str, GivenLabel]:
    return {} if text is None else read_saved(_LABELS.validate_json, text)


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
    """An unreadable row gives None, so that others can still be read."""
    try:
        return StoredJob(Job.model_validate_json(row.job).model_copy(update={"id": row.id}), row.owner, row.attempt)
    except ValidationError:
        log.warning("job %s: its row in the database cannot be read", row.id)
        return None


def write_texts(connection: Connection, job_id: str, owner: str, texts: Mapping[TextName, str]) -> None:
    names: Sequence[str] = list(texts)
    connection.execute(delete(TEXTS).where(TEXTS.c.job_id == job_id, TEXTS.c.name.in_(names)))
    rows = insert(TEXTS).values(job_id=job_id, owner=owner)
    for name, body in texts.items():
        n_bytes = BYTES_OF_ROW + len(body.encode())
        connection.execute(rows.values(name=name, body=body, n_bytes=n_bytes))


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
        raise NoRoom(f"your unfinished jobs have reached the limit for one key ({room.most_each})")


def _delete(connection: Connection, job_ids: Sequence[str]) -> int:
    """The jobs are locked first and in order, as by all other calls, because deadlocks could occur otherwise."""
    locked = select(JOBS.c.id).where(JOBS.c.id.in_(job_ids)).order_by(JOBS.c.id).with_for_update()
    found = list(connection.scalars(locked))
    for table, column in ((REPEATS, REPEATS.c.job_id), (TEXTS, TEXTS.c.job_id), (JOBS, JOBS.c.id)):
        connection.execute(delete(table).where(column.in_(found)))
    return len(found)


def _matching(rows: Iterable[Any], wanted: JobFilter, limit: int, most_rows: int) -> tuple[list[StoredJob], str | None]:
    found: list[StoredJob] = []
    reached = None
    for number, row in enumerate(rows):
        if len(found) == limit or number == most_rows:
            return found, reached
        reached = row.id
        if wanted.matches(row.job) and (stored := stored_of(row)) is not None:
            found.append(stored)
    return found, None


def _outcomes(job: Mapping[str, Any]) -> set[Outcome]:
    summary = job.get("summary") or {}
    if summary.get("kind") not in ("check", "long_form"):
        return set()
    counts, n_contradicted = summary.get("counts", {}), summary.get("n_contradicted", 0)
    n_not_supported = counts.get("not_supported", 0)
    found: dict[Outcome, bool] = {
        "problems": n_not_supported > 0,
        "no_problems": n_not_supported == 0,
        "contradicted": n_contradicted > 0,
        "no_evidence": n_not_supported > n_contradicted,
        "unscored": counts.get("unscored", 0) > 0,
    }
    return {outcome for outcome, is_so in found.items() if is_so}


def _listed(job: Mapping[str, Any]) -> str:
    judge, error = (job.get("summary") or {}).get("judge", ""), (job.get("error") or {}).get("message", "")
    return " ".join((job.get("title", ""), job.get("answer", ""), job.get("against", ""), judge, error)).casefold()
