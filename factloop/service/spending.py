"""Limits what jobs may cost per day, across all services that share the database.

Limits apply to all callers together and, if set for a key, to the caller with that key. A job reserves its maximum cost
before it starts, and returns what it did not spend at its end. The limits are therefore never exceeded, however many
services start jobs at the same time. If a job's service died, its full reservation counts, because its actual cost is
unknown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, true, update

from factloop.core.errors import ConfigError
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import Job, Kind
from factloop.service.tables import SPENDING, hold_others_off
from factloop.setup.settings import RunSettings

DAY_S = 86_400.0
FREE: frozenset[Kind] = frozenset({"audit"})
"""Kinds of jobs that do not call a model."""
_ROUNDING = 1e-9
"""Amount in dollars by which sums of many small prices may be off because of rounding."""


@dataclass(frozen=True)
class Cost:
    """Dollars and model calls, including failed ones. Each is None if it is not limited."""

    usd: float | None = None
    calls: int | None = None

    @property
    def is_limited(self) -> bool:
        return self.usd is not None or self.calls is not None


class DayOver(Exception):
    """The limits of the day are used up; a job fits within them again after `wait_s` seconds."""

    def __init__(self, wait_s: float, whose: str) -> None:
        super().__init__(f"the budget of 24 hours{whose} is spent")
        self.wait_s = wait_s


class DayLimits:
    """The limits for 24 hours. Every method blocks and works within a transaction of the caller."""

    def __init__(
        self,
        of_day: Cost,
        of_job: Cost,
        clock: Callable[[], float] = time.time,
        of_owners: Mapping[str, Cost] | None = None,
    ) -> None:
        """`of_job` is the maximum cost of one job, known for each limit; `of_owners` is what each owner may spend."""
        self._of_day, self._of_job, self._clock = of_day, of_job, clock
        self._of_owners = of_owners or {}

    def refuse(self, connection: Connection, owner: str, kind: Kind) -> None:
        """Raises DayOver if a new job would not fit even if the running jobs cost nothing."""
        for limit, counted, whose in self._limits(owner, kind):
            over = select(SPENDING).where(counted, SPENDING.c.is_open == 0, SPENDING.c.at > self._clock() - DAY_S)
            rows = connection.execute(over.order_by(SPENDING.c.at)).all()
            usd, calls, wait_s = sum(row.usd for row in rows), sum(row.calls for row in rows), 0.0
            for row in rows:
                if self._fits(limit, usd, calls):
                    break
                usd, calls, wait_s = usd - row.usd, calls - row.calls, row.at + DAY_S - self._clock()
            if wait_s:
                raise DayOver(wait_s, whose)

    def set_aside(self, connection: Connection, owner: str, job: Job, attempt: int) -> bool:
        """Reserves the maximum cost of the job. Returns False if not enough is left now."""
        connection.execute(update(SPENDING).where(SPENDING.c.job_id == job.id).values(is_open=0))  # its service died
        limits = list(self._limits(owner, job.kind))
        if not limits:
            return True
        hold_others_off(connection, "set money aside")
        now = self._clock()
        sums = func.coalesce(func.sum(SPENDING.c.usd), 0.0), func.coalesce(func.sum(SPENDING.c.calls), 0)
        for limit, counted, _ in limits:
            spent = connection.execute(select(*sums).where(counted, SPENDING.c.at > now - DAY_S)).one()
            if not self._fits(limit, *spent):
                return False
        most = {"usd": self._of_job.usd or 0.0, "calls": self._of_job.calls or 0, "owner": owner}
        connection.execute(insert(SPENDING).values(job_id=job.id, attempt=attempt, at=now, is_open=1, **most))
        return True

    def settle(self, connection: Connection, job: Job, attempt: int) -> None:
        """Replaces the job's reservation with what this attempt spent. If the price is unknown, the reservation counts.

        An attempt that continues with the answers of earlier ones reports their cost as well, which has already been
        counted.
        """
        progress, usage = job.progress, job.progress.usage
        cost: dict[str, Any] = {"usd": 0.0, "calls": 0}
        if usage is not None:
            calls, most = usage.calls + usage.failed_calls - progress.earlier_calls, self._of_job.calls
            cost = {"calls": calls if most is None else min(calls, most)}  # failed searches count, but are not calls
            cost |= {} if usage.cost_usd is None else {"usd": max(0.0, usage.cost_usd - progress.earlier_cost_usd)}
        ours = SPENDING.c.job_id == job.id, SPENDING.c.attempt == attempt
        connection.execute(update(SPENDING).where(*ours).values(at=self._clock(), is_open=0, **cost))

    def forget(self, connection: Connection) -> None:
        """Deletes what was spent more than a day ago."""
        connection.execute(delete(SPENDING).where(SPENDING.c.at <= self._clock() - DAY_S))

    def _limits(self, owner: str, kind: Kind) -> Iterator[tuple[Cost, ColumnElement[bool], str]]:
        """The limits that a job must stay within, with the rows that count towards each and whose limit it is; none for
        a free kind."""
        theirs = self._of_owners.get(owner, Cost())
        if kind not in FREE and self._of_day.is_limited:
            yield self._of_day, true(), ""
        if kind not in FREE and theirs.is_limited:
            yield theirs, SPENDING.c.owner == owner, " of this key"

    def _fits(self, limit: Cost, usd: float, calls: int) -> bool:
        has_money = limit.usd is None or usd + (self._of_job.usd or 0.0) <= limit.usd + _ROUNDING
        return has_money and (limit.calls is None or calls + (self._of_job.calls or 0) <= limit.calls)


def day_limits(settings: ServiceSettings, check: RunSettings, trust: RunSettings) -> DayLimits:
    """The limits for a day. Raises ConfigError if the maximum cost of one job is unknown."""
    usd, calls = (check.budget_usd, trust.budget_usd), (check.max_calls, trust.max_calls)
    of_job = Cost(
        None if None in usd else max(filter(None, usd), default=0.0),
        None if None in calls else max(filter(None, calls), default=0),
    )
    of_day, grants = Cost(settings.budget_usd_per_day, settings.max_calls_per_day), settings.keys.grants
    of_owners = {owner: Cost(one.budget_usd_per_day, one.max_calls_per_day) for owner, one in grants.items()}
    _refuse_unknown_cost(of_day, of_job, "")
    for owner, cost in of_owners.items():
        _refuse_unknown_cost(cost, of_job, f"{grants[owner].name}: ")
    return DayLimits(of_day, of_job, of_owners=of_owners)


def _refuse_unknown_cost(of_day: Cost, of_job: Cost, whose: str) -> None:
    for name, day, job in (("budget_usd", of_day.usd, of_job.usd), ("max_calls", of_day.calls, of_job.calls)):
        flag = f"--{name.replace('_', '-')}"
        if day is not None and job is None:
            raise ConfigError(f"{whose}{name}_per_day {day:g}: give {flag}, too: the most that one job may take")
        if day is not None and job is not None and job > day:
            raise ConfigError(f"{whose}{name}_per_day {day:g}: no job could begin, as each may take {job:g} ({flag})")
