"""Counts requests in moving windows: in memory, and over all services that share a database."""

from __future__ import annotations

import hashlib
import time

from limits import RateLimitItem
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from sqlalchemy import Engine, delete, insert, select

from factloop.service.errors import RequestRefusal
from factloop.service.kept import Database
from factloop.service.tables import HITS, database_now, hold_others_off


class SharedHits:
    """The requests that all services counted, in PostgreSQL. Every method is one transaction, and blocks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def take(self, whose: str, amount: int, seconds: float) -> float:
        """Counts a request, unless there were `amount` in the last `seconds`: then the seconds to wait, otherwise 0."""
        with self._engine.begin() as connection:
            hold_others_off(connection, f"hits {whose}")
            now: float = connection.execute(select(database_now())).scalar_one()
            of_caller = HITS.c.whose == whose
            connection.execute(delete(HITS).where(of_caller, HITS.c.until <= now))
            counted = select(HITS.c.until).where(of_caller).order_by(HITS.c.until.desc())
            frees = connection.scalar(counted.offset(amount - 1).limit(1))
            if frees is not None:
                return float(frees) - now
            connection.execute(insert(HITS).values(whose=whose, until=now + seconds))
        return 0.0

    def forget(self) -> None:
        """Forgets the requests that lie in no window any more."""
        with self._engine.begin() as connection:
            connection.execute(delete(HITS).where(HITS.c.until <= database_now()))


class Windows:
    """The requests of callers. Lives in one event loop.

    What memory refuses is not counted in the database: no flood of requests becomes one of transactions. While the
    database is away each service counts for itself.
    """

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._database: Database | None = None

    def share(self, database: Database | None) -> None:
        """Counts over all services of this database from now on; with None in memory alone."""
        self._database = database if database is not None and database.store.is_shared else None

    async def wait_s(self, limit: RateLimitItem, *whose: str, of_all: bool) -> int:
        """Counts a request: 0, or where there are too many already the seconds to wait, at least 1.

        `of_all`: counted over all services.
        """
        if not self._limiter.hit(limit, *whose):
            return _whole(self._limiter.get_window_stats(limit, *whose).reset_time - time.time())
        if not of_all or self._database is None:
            return 0
        name = hashlib.sha256("\n".join((str(limit), *whose)).encode("utf-8", "surrogateescape")).hexdigest()
        hits = SharedHits(self._database.store.engine)
        try:
            wait_s = await self._database.ask(hits.take, name, limit.amount, limit.get_expiry())
        except RequestRefusal:  # what failed is in the log
            return 0
        return _whole(wait_s) if wait_s else 0


def _whole(wait_s: float) -> int:
    return max(1, round(wait_s + 0.5))
