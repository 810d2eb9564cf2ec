"""Limits request rates and wrong keys, and issues tickets that open a single page without a key."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable
from typing import Literal
from urllib.parse import parse_qs

from limits import RateLimitItem, RateLimitItemPerMinute, parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from sqlalchemy import Engine, delete, insert, select

from factloop.core.errors import ConfigError
from factloop.entrance.keys import ApiKeys
from factloop.service.errors import RequestRefusal
from factloop.service.kept import Database
from factloop.service.shapes import TICKET_PAGES
from factloop.service.tables import HITS, database_now, hold_others_off

READS_FOR_A_JOB = 10  # number of read requests that a caller may make for each request for work
MOST_REQUESTS = 1_000_000_000
LONGEST_DAYS = 36_500
OF_ONE_KEY = RateLimitItemPerMinute(10)
"""For attempts with the same wrong key from one IP address, perhaps by a misconfigured program."""
OF_AN_ADDRESS = RateLimitItemPerMinute(60)
"""For wrong keys from one IP address. Someone may be guessing, or many people may share the address."""


class SharedHits:
    """Counts requests across all services in PostgreSQL. Every method blocks and runs in a single transaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def take(self, whose: str, amount: int, seconds: float) -> float:
        """Counts a request. After `amount` requests in `seconds`, returns how many seconds to wait instead of 0."""
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
        """Deletes requests that are too old to count."""
        with self._engine.begin() as connection:
            connection.execute(delete(HITS).where(HITS.c.until <= database_now()))


class RateLimits:
    """Counts requests in sliding windows. Bound to one event loop. Jobs and wrong keys are counted across all services
    that share a database, and reads in each service. Requests rejected in memory never reach the database."""

    def __init__(self, rate: str) -> None:
        try:
            jobs = parse_many(rate)
        except ValueError as error:
            raise ConfigError(f"rate = {rate!r}: must be a rate such as 60/minute") from error
        if any(not (0 < one.amount <= MOST_REQUESTS and one.get_expiry() <= 86_400 * LONGEST_DAYS) for one in jobs):
            raise ConfigError(
                f"rate = {rate!r}: must allow 1 to {MOST_REQUESTS:,} requests per period of up to {LONGEST_DAYS:,} days"
            )
        self._limits = {"jobs": jobs, "reads": [_oftener(limit) for limit in jobs]}
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._database: Database | None = None

    def share(self, database: Database | None) -> None:
        """Counts across all services that share the database, or only in memory if it is not shared."""
        self._database = database if database is not None and database.store.is_shared else None

    async def take(self, kind: Literal["jobs", "reads"], caller: str) -> None:
        """Counts a request. Raises RequestRefusal, which says how long to wait, if the caller has made too many."""
        for limit in self._limits[kind]:
            if wait_s := await self._wait_s(limit, kind, caller, of_all=kind == "jobs"):
                waiting = {"Retry-After": str(wait_s)}
                raise RequestRefusal(429, "too_many_requests", f"too many requests (limit: {limit})", headers=waiting)

    async def take_wrong_key(self, address: str, authorization: str) -> None:
        """Counts an attempt with a wrong key. Raises RequestRefusal after too many attempts."""
        key = hashlib.sha256(authorization.encode("utf-8", "surrogateescape")).hexdigest()
        for limit, whose in ((OF_AN_ADDRESS, ("address", address)), (OF_ONE_KEY, ("key", address, key))):
            if wait_s := await self._wait_s(limit, *whose, of_all=True):
                said = f"too many wrong keys (limit: {limit}); a valid key is still accepted"
                headers = {"Retry-After": str(wait_s), "WWW-Authenticate": "Bearer"}
                raise RequestRefusal(429, "too_many_attempts", said, headers=headers)

    async def _wait_s(self, limit: RateLimitItem, *whose: str, of_all: bool) -> int:
        if not self._limiter.hit(limit, *whose):
            return _whole(self._limiter.get_window_stats(limit, *whose).reset_time - time.time())
        if not of_all or self._database is None:
            return 0
        name = hashlib.sha256("\n".join((str(limit), *whose)).encode("utf-8", "surrogateescape")).hexdigest()
        hits = SharedHits(self._database.store.engine)
        try:
            wait_s = await self._database.ask(hits.take, name, limit.amount, limit.get_expiry())
        except RequestRefusal:  # the failure has been logged
            return 0
        return _whole(wait_s) if wait_s else 0


def _oftener(limit: RateLimitItem) -> RateLimitItem:
    kind: Callable[..., RateLimitItem] = type(limit)
    return kind(READS_FOR_A_JOB * limit.amount, limit.multiples)


def _whole(wait_s: float) -> int:
    return max(1, round(wait_s + 0.5))


PARAMETER = "ticket"
GOOD_FOR_S = 12 * 60 * 60  # seconds; long enough to reload a page that stays open in a tab
_TICKET = re.compile(r"([0-9]{1,12})\.([0-9a-f]{64})", re.ASCII)
_LONGEST_QUERY = 500


class Tickets:
    """URLs that open one page for one owner without a key. They work for 12 hours, in every service with that key."""

    def __init__(self, keys: ApiKeys, clock: Callable[[], float] = time.time) -> None:
        self._keys, self._clock = keys, clock

    def address(self, owner: str, page: str) -> str:
        until = str(int(self._clock()) + GOOD_FOR_S)
        return f"{page}?{PARAMETER}={until}.{self._sign(owner, page, until)[0]}"

    def owner(self, path: str, query: bytes) -> str | None:
        """The owner of the ticket in a request's query, or None if it has no valid ticket for this path."""
        if len(query) > _LONGEST_QUERY or not opens(path):
            return None
        given = parse_qs(query.decode("latin-1")).get(PARAMETER, [""])
        found = _TICKET.fullmatch(given[0]) if len(given) == 1 else None
        if found is None or int(found[1]) < self._clock():
            return None
        signatures = ((owner, one) for owner in self._keys.grants for one in self._sign(owner, path, found[1]))
        matches = [owner for owner, signature in signatures if hmac.compare_digest(signature, found[2])]
        return matches[0] if matches else None

    def _sign(self, owner: str, page: str, until: str) -> list[str]:
        return self._keys.sign(owner, f"ticket\n{page}\n{until}")


def opens(path: str) -> bool:
    return re.fullmatch(TICKET_PAGES, path, re.ASCII) is not None
