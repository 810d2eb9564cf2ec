"""Limits what jobs may cost per day, across all services that share the database.

A job reserves its maximum cost before it starts and releases the rest when it ends, so the limits hold even if many
services start jobs at the same time. If a service dies, its job's full reservation counts, because its cost is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, delete, func, insert, select, true, update

from factloop.entrance.keys import Grant
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import Job, Kind
from factloop.service.tables import SPENDING, time_of
from factloop.setup.chat_model import refuse_unknown_price
from factloop.setup.settings import RunSettings

DAY_S = 86_400.0
JOBS_A_DAY = 10  # number of jobs that share the daily limits if jobs have no limits of their own
FREE: frozenset[Kind] = frozenset({"audit"})  # kinds of jobs that do not call a model
_ROUNDING = 1e-9  # maximum rounding error in dollars of the sum of many small prices


@dataclass(frozen=True)
class Cost:
    """Dollars and model calls (including failed calls). As a limit, None means no limit."""

    usd: float | None = None
    calls: int | None = None

    @property
    def is_limited(self) -> bool:
        return self.usd is not None or self.calls is not None

    def within(self, other: Cost) -> Cost:
        """The stricter limit for dollars and for calls."""
        usd, calls = ((self.usd, other.usd), (self.calls, other.calls))
        return Cost(
            min((one for one in usd if one is not None), default=None),
            min((one for one in calls if one is not None), default=None),
        )


class DayOver(Exception):
    """A limit for 24 hours has been reached. The next job can start after `wait_s` seconds."""

    def __init__(self, wait_s: float, whose: str) -> None:
        super().__init__(f"the 24-hour budget{whose} is used up")
        self.wait_s = wait_s


class DayLimits:
    """The limits for 24 hours. Every method blocks and works within the caller's transaction."""

    def __init__(
        self,
        of_day: Cost,
        of_job: Cost,
        clock: Callable[[Connection], float] = time_of,
        of_owner: Callable[[str], Cost] = lambda _: Cost(),
    ) -> None:
        """`of_job` is the limit of each job. `of_owner` returns how much an owner may spend."""
        self._of_day, self._of_job, self._clock, self.of_owner = of_day, of_job, clock, of_owner

    def share(self, owner: str) -> Cost:
        """How much one of the owner's jobs may cost under the daily limits alone."""
        day, job = self._of_day.within(self.of_owner(owner)), self._of_job
        return Cost(
            day.usd if day.usd is None or job.usd is not None else day.usd / JOBS_A_DAY,
            day.calls if day.calls is None or job.calls is not None else max(1, day.calls // JOBS_A_DAY),
        )

    def left(self, connection: Connection, owner: str) -> Cost:
        """What is left of the owner's own limits for today, after subtracting reserved amounts."""
        theirs = self.of_owner(owner)
        usd, calls = self._spent(connection, SPENDING.c.owner == owner, self._clock(connection))
        return Cost(
            None if theirs.usd is None else max(0.0, theirs.usd - usd),
            None if theirs.calls is None else max(0, theirs.calls - calls),
        )

    def refuse(self, connection: Connection, owner: str, kind: Kind) -> None:
        """Raises DayOver if a new job would exceed a limit even if all running jobs turned out to cost nothing."""
        now = self._clock(connection)
        for limit, counted, whose in self._limits(owner, kind):
            over = select(SPENDING).where(counted, SPENDING.c.is_open == 0, SPENDING.c.at > now - DAY_S)
            rows = connection.execute(over.order_by(SPENDING.c.at)).all()
            usd, calls, wait_s = sum(row.usd for row in rows), sum(row.calls for row in rows), 0.0
            for row in rows:
                if self._fits(owner, limit, usd, calls):
                    break
                usd, calls, wait_s = usd - row.usd, calls - row.calls, row.at + DAY_S - now
            if wait_s:
                raise DayOver(wait_s, whose)

    def set_aside(self, connection: Connection, owner: str, job: Job, attempt: int) -> bool:
        """Reserves the job's maximum cost. False if the remaining budget is too small. Needs `hold_others_off`."""
        if attempt > 1:
            keep_reserved(connection, job)
        limits = list(self._limits(owner, job.kind))
        if not limits:
            return True
        now = self._clock(connection)
        if not all(self._fits(owner, limit, *self._spent(connection, counted, now)) for limit, counted, _ in limits):
            return False
        most = self._most(owner)
        values = {"job_id": job.id, "attempt": attempt, "at": now, "is_open": 1, "owner": owner}
        connection.execute(insert(SPENDING).values(usd=most.usd or 0.0, calls=most.calls or 0, **values))
        return True

    def settle(self, connection: Connection, job: Job, attempt: int) -> None:
        """Replaces the reservation with the cost of this attempt alone, unless the price is unknown."""
        progress, usage = job.progress, job.progress.usage
        cost: dict[str, Any] = {"usd": 0.0, "calls": 0}
        if usage is not None:
            calls, reserved = usage.calls + usage.failed_calls - progress.earlier_calls, SPENDING.c.calls
            cost = {"calls": case((reserved.between(1, calls), reserved), else_=calls)}  # failed searches are not calls
            cost |= {} if usage.cost_usd is None else {"usd": max(0.0, usage.cost_usd - progress.earlier_cost_usd)}
        ours = SPENDING.c.job_id == job.id, SPENDING.c.attempt == attempt
        connection.execute(update(SPENDING).where(*ours).values(at=self._clock(connection), is_open=0, **cost))

    def forget(self, connection: Connection) -> None:
        """Deletes records of spending that are more than a day old."""
        connection.execute(delete(SPENDING).where(SPENDING.c.at <= self._clock(connection) - DAY_S))

    def _limits(self, owner: str, kind: Kind) -> Iterator[tuple[Cost, ColumnElement[bool], str]]:
        """Each limit on a job, the rows that count towards it, and whose limit it is. Free jobs have none."""
        theirs = self.of_owner(owner)
        if kind not in FREE and self._of_day.is_limited:
            yield self._of_day, true(), ""
        if kind not in FREE and theirs.is_limited:
            yield theirs, SPENDING.c.owner == owner, " of this key"

    def _most(self, owner: str) -> Cost:
        return self._of_job.within(self.share(owner))

    def _fits(self, owner: str, limit: Cost, usd: float, calls: int) -> bool:
        most = self._most(owner)
        has_money = limit.usd is None or usd + (most.usd or 0.0) <= limit.usd + _ROUNDING
        return has_money and (limit.calls is None or calls + (most.calls or 0) <= limit.calls)

    def _spent(self, connection: Connection, counted: ColumnElement[bool], now: float) -> tuple[float, int]:
        sums = func.coalesce(func.sum(SPENDING.c.usd), 0.0), func.coalesce(func.sum(SPENDING.c.calls), 0)
        usd, calls = connection.execute(select(*sums).where(counted, SPENDING.c.at > now - DAY_S)).one()
        return usd, calls


def keep_reserved(connection: Connection, job: Job) -> None:
    """Counts what a job has reserved as spent, if its service died."""
    connection.execute(update(SPENDING).where(SPENDING.c.job_id == job.id).values(is_open=0))


def day_limits(settings: ServiceSettings, check: RunSettings, trust: RunSettings) -> DayLimits:
    """Raises ConfigError if cost is limited and the price of a model is unknown."""
    usd, calls = (check.budget_usd, trust.budget_usd), (check.max_calls, trust.max_calls)
    of_job = Cost(
        None if None in usd else max(filter(None, usd), default=0.0),
        None if None in calls else max(filter(None, calls), default=0),
    )

    def of_owner(owner: str) -> Cost:
        grant = settings.keys.grants.get(owner, Grant())
        return Cost(grant.budget_usd_per_day, grant.max_calls_per_day)

    def refuse(grant: Grant) -> None:
        most = limits(of_owner=lambda _: Cost(grant.budget_usd_per_day)).share("").usd
        for run in (check, trust) if most is not None else ():
            refuse_unknown_price(run.model_copy(update={"budget_usd": most}), getattr(run, "subject_model", None))

    limits = partial(DayLimits, Cost(settings.budget_usd_per_day, settings.max_calls_per_day), of_job)
    settings.keys.hold_to(refuse)
    return limits(of_owner=of_owner)
