"""Calls the database from the event loop.

If the database is unavailable, a call may take up to ten seconds to fail. Only one call at a time then tries it, and
all others are rejected at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError, SQLAlchemyError

from factloop.service.database import FileReplaced, is_contention, is_full, said_by
from factloop.service.errors import RequestRefusal, not_kept
from factloop.service.store import JobStore

P = ParamSpec("P")
T = TypeVar("T")
THREADS_TO_A_SERVER = 4
QUIET_S = 60.0  # seconds after a logged outage during which another one is not logged; one that lasts longer is
_OF_ONE_STATEMENT = (DataError, IntegrityError, ProgrammingError)
"""These concern a single statement, so others may succeed."""

log = logging.getLogger(__name__)


class Database:
    """Runs the store in its own threads: one for SQLite, which allows only one writer."""

    def __init__(self, store: JobStore) -> None:
        self.store = store
        threads = THREADS_TO_A_SERVER if store.is_shared else 1
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="factloop-jobs")
        self._apart: dict[Callable[..., Any], ThreadPoolExecutor] = {}
        self.run_apart(store.page)  # lists may be slow
        self._under_way: set[Future[Any]] = set()
        self._n_outages, self._is_away, self._logged_s = 0, False, -QUIET_S
        self.is_in_trouble = False
        """Whether the database has failed and has not accepted a row since."""
        self._logged: type[SQLAlchemyError] | None = None
        self._probing: asyncio.Future[None] = asyncio.Future()
        self._probing.set_result(None)
        self._in_touch_since = time.monotonic()

    def run_apart(self, call: Callable[..., Any]) -> None:
        """Gives a call a thread of its own, so that it and the others do not wait for each other."""
        self._apart[call] = ThreadPoolExecutor(1, thread_name_prefix="factloop-apart")

    async def ask(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Raises RequestRefusal if the call fails, or if another call is trying to reach the database again."""
        if self._is_away and self._under_way:
            raise not_kept()
        return await self.save(call, *args, **kwargs)

    async def save(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `ask`, but waits for another call that is trying to reach the database again."""
        work: Any = partial(call, *args, **kwargs)
        asked: Future[T] = self._apart.get(call, self._threads).submit(self._in_turn, self._n_outages, work)
        self._under_way.add(asked)
        asked.add_done_callback(self._under_way.discard)  # when the call ends, even if the caller is no longer waiting
        try:
            found = await asyncio.wrap_future(asked)
        except SQLAlchemyError as error:
            self._failed(error)
            raise not_kept() from error
        self._is_away = False
        if self.is_in_trouble and call == self.store.probe:
            if self._logged is not None:
                log.warning("the database is available again")
            self.is_in_trouble, self._logged, self._in_touch_since = False, None, time.monotonic()
        elif self.is_in_trouble and self._probing.done():
            self._probing = asyncio.ensure_future(self._probe())
        return found

    async def _probe(self) -> None:
        """Writes a row, because reading would work even on a full disk."""
        with suppress(RequestRefusal):
            await self.save(self.store.probe)

    @property
    def in_touch_s(self) -> float:
        """Seconds since the database last failed, or 0 while it is failing."""
        return 0.0 if self.is_in_trouble else time.monotonic() - self._in_touch_since

    async def aclose(self) -> None:
        await self._probing
        for threads in (self._threads, *self._apart.values()):
            await asyncio.to_thread(threads.shutdown)  # a running call would leave its connection open
        await asyncio.to_thread(self.store.close)

    def _in_turn(self, n_outages: int, work: Callable[[], T]) -> T:
        """Makes the call, unless an earlier one has found that the database is unavailable."""
        if n_outages != self._n_outages:
            raise not_kept()
        try:
            return work()
        except _OF_ONE_STATEMENT:
            raise
        except SQLAlchemyError as error:
            # A full disk is noticed immediately, and must not block deletions.
            if not is_full(error) and not is_contention(error):
                self._n_outages, self._is_away = self._n_outages + 1, True
            raise

    def _failed(self, error: SQLAlchemyError) -> None:
        reason, kind = said_by(error), FileReplaced if isinstance(error, FileReplaced) else SQLAlchemyError
        if is_contention(error):
            log.warning("the database cancelled a call: %s", reason)
            return
        self.is_in_trouble = True
        if kind != self._logged and (kind is FileReplaced or time.monotonic() - self._logged_s >= QUIET_S):
            self._logged, self._logged_s = kind, time.monotonic()
            log.error(reason if kind is FileReplaced else f"the database failed: {reason}")
