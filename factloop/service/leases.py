"""A lease records which service is running a job, and until when.

Services renew the leases of their jobs. If a service dies, its leases expire, and other services take over its jobs. If
the database is not shared, the next start ends them. A job fails if several services have died while running it,
because it may be the cause.
"""

from __future__ import annotations

import logging
import secrets
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, update
from sqlalchemy.exc import DataError, IntegrityError

from factloop.entrance.keys import ApiKeys
from factloop.entrance.turns import Turns, Waiting
from factloop.service import store as stores
from factloop.service.errors import error_words
from factloop.service.shapes import ErrorWords, Progress, Status
from factloop.service.spending import FREE, Cost, DayLimits, keep_reserved
from factloop.service.store import ENDED, UNFINISHED, WAITING, JobStore, StoredJob, TextName, row_of, stored_of
from factloop.service.tables import JOBS, TEXTS, database_now, hold_others_off, time_of

MOST_DEATHS = 3  # maximum number of services that may die while running the same job
_NO_LEASE = {"leased_by": None, "leased_until": None}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LeasedJob:
    stored: StoredJob
    request: str
    may_have_paid: bool
    """Whether an earlier service died after starting the job, or stopped after the job's first call or search."""


@dataclass(frozen=True)
class Renewal:
    """The leases that this service still holds, and the leased jobs to cancel."""

    held: frozenset[str]
    cancelled: frozenset[str]
    n_services: int


class Leases:
    """The leases of one service. Every method blocks. All but `cancel_disowned` run in one transaction."""

    def __init__(
        self,
        store: JobStore,
        seconds: float,
        *,
        most_at_work: int | None = None,
        day: DayLimits | None = None,
        turns: Turns | None = None,
        together: Turns | None = None,
        keys: ApiKeys | None = None,
    ) -> None:
        """Leases last for `seconds`. `turns` decides whose job runs next here. Across all services, `most_at_work`
        limits the running jobs, `together` limits those of each caller, and `day` limits the cost of a day's jobs."""
        self._store, self._engine, self.seconds = store, store.engine, seconds
        self._most_at_work, self._day = most_at_work, day or DayLimits(Cost(), Cost())
        self._turns, self._together, self._keys = turns or Turns(), together or Turns(), keys
        self.service = secrets.token_hex(16)

    def begin(self) -> None:
        """If no other service uses the database, ends the leases of an earlier process that died."""
        if not self._store.is_shared:
            with self._engine.begin() as connection:
                connection.execute(update(JOBS).where(JOBS.c.leased_by.is_not(None)).values(leased_until=ENDED))

    def cancel_disowned(self, gone: Collection[str] | None = None) -> None:
        """Cancels the jobs of `gone` owners or, by default, of all owners without a key, who could not stop them."""
        if not self._keys:
            return
        with self._engine.connect() as connection:
            theirs = JOBS.c.owner.not_in(self._keys.grants) if gone is None else JOBS.c.owner.in_(gone)
            unfinished = select(JOBS.c.id, JOBS.c.owner).where(JOBS.c.status.in_(UNFINISHED), theirs)
            jobs = connection.execute(unfinished.order_by(JOBS.c.id)).all()
        for job in jobs:  # in separate transactions, so that other services can renew leases meanwhile
            if job.owner not in self._keys.grants:  # the key may be back
                self.cancel(job.id, error_words("cancelled", "the key that submitted this job was removed"))
        if jobs:
            log.warning("unfinished jobs cancelled because their keys were removed: %d", len(jobs))

    def take(self, most: int, *, lapsed: bool) -> list[LeasedJob]:
        """Leases up to `most` jobs in the callers' turns. With `lapsed`, also takes over dead services' jobs."""
        free, of_job = WAITING, and_(TEXTS.c.job_id == JOBS.c.id, TEXTS.c.name == "request")
        request = select(JOBS, TEXTS.c.body).outerjoin(TEXTS, of_job)
        taken: list[LeasedJob] = []
        with self._engine.begin() as connection:
            hold_others_off(connection, "take jobs")
            if lapsed and self._store.is_shared:
                free = or_(free, JOBS.c.leased_until < database_now())
            queues, here, everywhere = self._unfinished(connection, free)
            if self._most_at_work is not None:
                most = min(most, self._most_at_work - everywhere.total())
            spent: set[str] = set()
            known = self._keys.grants if self._keys else queues
            while len(taken) < most:
                may = {
                    owner: queue
                    for owner, queue in queues.items()
                    if owner in known and self._together.may_begin(everywhere[owner], everywhere.total())
                }
                if (owner := self._turns.next(may, here)) is None:
                    break
                job_id, kind = queues[owner].popleft()
                if owner in spent and kind not in FREE:
                    continue
                wanted = request.where(JOBS.c.id == job_id, JOBS.c.status.in_(UNFINISHED), free)
                row = connection.execute(wanted.with_for_update(skip_locked=True, of=JOBS)).first()
                one = None if row is None else self._taken(connection, row, spent)
                if one is not None:
                    taken.append(one)
                    here[owner] += 1
                    everywhere[owner] += 1
                    self._turns.took(owner)
            if taken:  # the leases begin last, because the other statements may take long
                ours = JOBS.c.id.in_([one.stored.job.id for one in taken])
                connection.execute(update(JOBS).where(ours).values(leased_until=self._until()))
        return taken

    def renew(self, jobs: Iterable[StoredJob]) -> Renewal:
        written = {stored.job.id: stored.job.model_dump_json() for stored in jobs}
        ours = JOBS.c.id.in_(written), JOBS.c.leased_by == self.service
        locked = select(JOBS.c.id, JOBS.c.cancel_asked).where(*ours).order_by(JOBS.c.id).with_for_update()
        with self._engine.begin() as connection:
            held = {row.id: row.cancel_asked for row in connection.execute(locked)}
            values = {"job": case(written, value=JOBS.c.id), "leased_until": self._until()}
            connection.execute(update(JOBS).where(JOBS.c.id.in_(held)).values(values))
            n_others = self._n_other_services(connection)
        return Renewal(frozenset(held), frozenset(job for job, asked in held.items() if asked), 1 + n_others)

    def keep_events(self, stored: StoredJob, events: str) -> None:
        """Saves a job's events so far, unless the lease was lost or the job has ended."""
        ours = JOBS.c.id == stored.job.id, JOBS.c.leased_by == self.service
        with self._engine.begin() as connection:
            if connection.execute(select(JOBS.c.id).where(*ours).with_for_update()).first() is not None:
                stores.write_texts(connection, stored.job.id, stored.owner, {"events": events})

    def end(self, stored: StoredJob, texts: Mapping[TextName, str]) -> bool:
        """Saves an ended job and its texts. False if the lease or the job is gone. Can be repeated."""
        with self._engine.begin() as connection:
            ours = JOBS.c.id == stored.job.id, JOBS.c.leased_by == self.service
            changed = connection.execute(update(JOBS).where(*ours).values(**row_of(stored), **_NO_LEASE))
            if changed.rowcount:
                self._day.settle(connection, stored.job, stored.attempt)
                stores.write_texts(connection, stored.job.id, stored.owner, texts)
                return True
            kept = connection.scalar(select(JOBS.c.job).where(JOBS.c.id == stored.job.id))
        return kept == stored.job.model_dump_json()

    def give_back(self, stored: StoredJob) -> bool:
        """Returns the job to the queue. False if the lease is gone."""
        with self._engine.begin() as connection:
            if is_ours := _put_back(connection, stored, self.service):
                self._day.settle(connection, stored.job, stored.attempt)
        return is_ours

    def cancel(self, job_id: str, reason: ErrorWords | None = None) -> StoredJob | None:
        """Cancels a waiting job, or asks the service that is running it to do so."""
        with self._engine.begin() as connection:
            row = connection.execute(select(JOBS).where(JOBS.c.id == job_id).with_for_update()).first()
            return None if row is None else _cancelled(connection, row, reason)

    def _unfinished(
        self, connection: Connection, free: ColumnElement[bool]
    ) -> tuple[dict[str, deque[Waiting]], Counter[str], Counter[str]]:
        queues: defaultdict[str, deque[Waiting]] = defaultdict(deque)
        here, everywhere = Counter[str](), Counter[str]()
        is_free = case((free, 1), else_=0).label("is_free")
        rows = select(JOBS.c.id, JOBS.c.owner, JOBS.c.kind, JOBS.c.leased_by, is_free).where(
            JOBS.c.status.in_(UNFINISHED)
        )
        for row in connection.execute(rows.order_by(JOBS.c.id)):
            if row.is_free:
                queues[row.owner].append((row.id, row.kind))
            else:
                everywhere[row.owner] += 1
                here[row.owner] += row.leased_by == self.service
        return queues, here, everywhere

    def _n_other_services(self, connection: Connection) -> int:
        if not self._store.is_shared:
            return 0
        theirs = JOBS.c.leased_by != self.service, JOBS.c.leased_until > database_now()
        services = select(func.count(JOBS.c.leased_by.distinct())).where(JOBS.c.status.in_(UNFINISHED), *theirs)
        return connection.scalar(services) or 0

    def _taken(self, connection: Connection, row: Any, spent: set[str]) -> LeasedJob | None:
        """None if the job must not run. Adds owners whose budget is spent to `spent`."""
        stored = stored_of(row)
        if stored is None:  # otherwise, every later call would read it again
            connection.execute(update(JOBS).where(JOBS.c.id == row.id).values(status="failed", **_NO_LEASE))
            return None
        try:
            with connection.begin_nested() if self._store.is_shared else nullcontext():
                return self._leased(connection, row, stored, spent)
        except (DataError, IntegrityError, OverflowError, LookupError) as error:  # others could not be taken either
            log.error("job %s: its row is damaged (%s); marking it as failed", row.id, getattr(error, "orig", error))
            _ended(connection, stored, "failed", error_words("internal", "this job was damaged in the database"))
            return None

    def _leased(self, connection: Connection, row: Any, stored: StoredJob, spent: set[str]) -> LeasedJob | None:
        job_id: str = row.id
        if row.body is None:
            raise LookupError("it has no request")
        if row.cancel_asked:
            _ended(connection, stored, "cancelled")
            return None
        n_deaths = stored.job.n_deaths + (row.leased_by is not None)
        if n_deaths >= MOST_DEATHS:
            log.error("job %s: %d services died while running it; marking it as failed", job_id, n_deaths)
            words = error_words("internal", f"the service died {n_deaths} times while running this job")
            _ended(connection, stored.changed(n_deaths=n_deaths), "failed", words)
            return None
        began = stored.changed(status="running", started_at=datetime.now(UTC), progress=Progress(), n_deaths=n_deaths)
        began = replace(began, attempt=stored.attempt + 1)
        if not self._day.set_aside(connection, began.owner, began.job, began.attempt):
            spent.add(began.owner)
            if row.leased_by is not None:
                log.warning("job %s: its service died, and the 24-hour budget is used up; waiting", job_id)
                _put_back(connection, stored.changed(n_deaths=n_deaths), row.leased_by)
            return None
        as_seen = JOBS.c.id == job_id, JOBS.c.attempt == stored.attempt  # SQLite does not lock rows
        changed = connection.execute(update(JOBS).where(*as_seen).values(**row_of(began), leased_by=self.service))
        usage = stored.job.progress.usage  # complete if the service was stopped, but not if it died
        asked = usage is not None and usage.calls + usage.failed_calls + usage.searches > 0
        may_have_paid = asked or n_deaths > 0
        return LeasedJob(began, row.body, may_have_paid) if changed.rowcount else None

    def _until(self) -> ColumnElement[float] | None:
        return database_now() + self.seconds if self._store.is_shared else None


def _put_back(connection: Connection, stored: StoredJob, service: str) -> bool:
    waiting = stored.changed(status="queued", started_at=None, progress=Progress(usage=stored.job.progress.usage))
    leased = JOBS.c.id == stored.job.id, JOBS.c.leased_by == service
    return bool(connection.execute(update(JOBS).where(*leased).values(**row_of(waiting), **_NO_LEASE)).rowcount)


def _cancelled(connection: Connection, row: Any, reason: ErrorWords | None) -> StoredJob | None:
    stored = stored_of(row)
    if stored is None or stored.is_over:
        return stored
    has_lapsed = row.leased_until is not None and row.leased_until < time_of(connection)
    if row.leased_by is None or has_lapsed:
        return _ended(connection, stored, "cancelled", reason)
    connection.execute(update(JOBS).where(JOBS.c.id == row.id).values(cancel_asked=1))
    return stored


def _ended(connection: Connection, stored: StoredJob, status: Status, error: ErrorWords | None = None) -> StoredJob:
    over = stored.changed(status=status, finished_at=datetime.now(UTC), error=error)
    connection.execute(update(JOBS).where(JOBS.c.id == stored.job.id).values(**row_of(over), **_NO_LEASE))
    keep_reserved(connection, stored.job)
    return over
