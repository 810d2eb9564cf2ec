"""Asks the database from the event loop, and says once when it fails and once when it answers again.

A database that is away takes up to ten seconds to fail. So that no caller waits for the failures of others, one call at
a time asks it meanwhile, and the others are refused at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError, SQLAlchemyError

from factloop.service.database import FileReplaced, said_by
from factloop.service.errors import not_kept
from factloop.service.store import JobStore

P = ParamSpec("P")
T = TypeVar("T")
THREADS_TO_A_SERVER = 4
_OF_ONE_STATEMENT = (DataError, IntegrityError, ProgrammingError)
"""Failures that say nothing of what else the database would do."""

log = logging.getLogger(__name__)


class Database:
    """The store in threads of its own: one for SQLite, which has one writer; a few for a server."""

    def __init__(self, store: JobStore) -> None:
        self.store = store
        threads = THREADS_TO_A_SERVER if store.is_shared else 1
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="factloop-jobs")
        self._under_way: set[Future[Any]] = set()
        self._n_outages, self._is_away = 0, False
        self._trouble: str | None = None
        self._in_touch_since = time.monotonic()

    async def ask(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls. Raises RequestRefusal where it fails, or while the database is away and another call asks it."""
        if self._is_away and self._under_way:
            raise not_kept()
        return await self.save(call, *args, **kwargs)

    async def save(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls, after the call that asks a database which is away: refused with it, or done after it."""
        work: Any = partial(call, *args, **kwargs)
        asked: Future[T] = self._threads.submit(self._in_turn, self._n_outages, work)
        self._under_way.add(asked)
        asked.add_done_callback(self._under_way.discard)  # at its end, which a caller who leaves may not wait for
        try:
            found = await asyncio.wrap_future(asked)
        except SQLAlchemyError as error:
            self._failed(error)
            raise not_kept() from error
        if self._trouble is not None:
            log.warning("the database answers again")
            self._trouble, self._in_touch_since = None, time.monotonic()
        self._is_away = False
        return found

    @property
    def in_touch_s(self) -> float:
        """For how many seconds the database has answered without a failure. 0 while it fails."""
        return 0.0 if self._trouble is not None else time.monotonic() - self._in_touch_since

    async def aclose(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)  # a call under way would leave its connection open
        await asyncio.to_thread(self.store.close)

    def _in_turn(self, n_outages: int, work: Callable[[], T]) -> T:
        """Calls, in a thread; refuses what waited behind a call that found the database away."""
        if n_outages != self._n_outages:
            raise not_kept()
        try:
            return work()
        except _OF_ONE_STATEMENT:
            raise
        except SQLAlchemyError:
            self._n_outages, self._is_away = self._n_outages + 1, True
            raise

    def _failed(self, error: SQLAlchemyError) -> None:
        reason = said_by(error)
        if reason != self._trouble:  # an outage is logged once, not with each request
            log.error(reason if isinstance(error, FileReplaced) else f"the database failed: {reason}")
        self._trouble = reason
