"""Asks the database from the event loop, and says once when it fails and once when it answers again."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from factloop.service.database import FileReplaced, said_by
from factloop.service.errors import RequestRefusal
from factloop.service.store import JobStore

P = ParamSpec("P")
T = TypeVar("T")
RETRY_AFTER_S = 10
THREADS_TO_A_SERVER = 4

log = logging.getLogger(__name__)


class Database:
    """The store in threads of its own: one for SQLite, which has one writer; a few for a server."""

    def __init__(self, store: JobStore) -> None:
        self.store = store
        threads = THREADS_TO_A_SERVER if store.is_shared else 1
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="factloop-jobs")
        self._trouble: str | None = None
        self._in_touch_since = time.monotonic()

    async def ask(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls. Raises RequestRefusal where it fails: a full disk, a lost server, a deleted file."""
        work: Any = partial(call, *args, **kwargs)
        try:
            found: T = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except SQLAlchemyError as error:
            self._failed(error)
            raise not_kept() from error
        if self._trouble is not None:
            log.warning("the database answers again")
            self._trouble, self._in_touch_since = None, time.monotonic()
        return found

    @property
    def in_touch_s(self) -> float:
        """For how many seconds the database has answered without a failure. 0 while it fails."""
        return 0.0 if self._trouble is not None else time.monotonic() - self._in_touch_since

    async def aclose(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)  # what is still asked would leave its connection open
        await asyncio.to_thread(self.store.close)

    def _failed(self, error: SQLAlchemyError) -> None:
        reason = said_by(error)
        if reason != self._trouble:  # an outage is told once, not with each request
            log.error(reason if isinstance(error, FileReplaced) else f"the database failed: {reason}")
        self._trouble = reason


def not_kept() -> RequestRefusal:
    """The refusal for what the database does not take, or has not."""
    return RequestRefusal(503, "not_kept", "the service cannot keep jobs just now; try again later", headers=wait())


def stopping() -> RequestRefusal:
    return RequestRefusal(503, "stopping", "the service is being stopped", headers=wait())


def wait() -> dict[str, str]:
    return {"Retry-After": str(RETRY_AFTER_S)}
