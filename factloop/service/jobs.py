"""Runs jobs, a few at a time, and leaves them resumable however the process ends.

A job is in the database before it is answered for, and what it pays for is in its journal before it is used. One that
was at work when the service ended is begun again with its journal at the next start, so nothing is paid for twice.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from factloop.core.errors import FactloopError
from factloop.service.errors import RequestRefusal, error_words, failure_words
from factloop.service.filtering import JobFilter
from factloop.service.live import LiveEvent, LiveJob, read_events, write_events
from factloop.service.metrics import Metrics
from factloop.service.shapes import ErrorWords, Job, JobPage, Kind, Progress, Status
from factloop.service.store import JobStore, StoredJob, TextName, new_job_id, reason_of
from factloop.service.work import JobListener, JobOutcome, Work

P = ParamSpec("P")
T = TypeVar("T")
JOB_FINISHED = "job_finished"
RETRY_AFTER_S = 10

log = logging.getLogger(__name__)


class Jobs:
    """All jobs of the service. Lives in one event loop."""

    def __init__(
        self, store: JobStore, work: Work, folder: Path, metrics: Metrics, *, max_running: int, max_queued: int
    ) -> None:
        """`folder` is for the journals."""
        self._store, self._work, self._folder, self._metrics = store, work, folder, metrics
        self._slots = asyncio.Semaphore(max_running)
        self._max_live = max_running + max_queued
        self._live: dict[str, LiveJob] = {}
        self._database = ThreadPoolExecutor(1, thread_name_prefix="factloop-jobs")
        self.is_stopping = False

    async def start(self) -> None:
        """Goes on with the jobs that an earlier process left."""
        for stored in await self._in_database(self._store.unfinished):
            request = await self._in_database(self._store.text, stored.job.id, "request")
            if request is not None:
                waiting = stored.changed(status="queued", started_at=None, progress=Progress())
                self._begin(LiveJob(replace(waiting, attempt=stored.attempt + 1), request))

    async def submit(
        self, owner: str, kind: Kind, title: str, request: str, *, answer: str = "", against: str = ""
    ) -> LiveJob:
        """A new job, in the database when this returns. Raises RequestRefusal where too many wait."""
        if self.is_stopping:
            raise RequestRefusal(503, "stopping", "the service is being stopped", headers=_retry_after())
        if len(self._live) >= self._max_live:
            raise RequestRefusal(
                503, "busy", "too many jobs wait for their turn; try again later", headers=_retry_after()
            )
        made = datetime.now(UTC)
        job = Job(
            id=new_job_id(), kind=kind, status="queued", title=title, answer=answer, against=against, created_at=made
        )
        live = LiveJob(StoredJob(job, owner), request)
        self._live[job.id] = live  # before anything is awaited: the place is taken
        try:
            await self._in_database(self._store.add, live.stored, request)
        except BaseException:
            self._live.pop(job.id, None)
            raise
        self._begin(live)
        return live

    def live(self, job_id: str, owner: str) -> LiveJob | None:
        """The job, while it waits or is at work."""
        found = self._live.get(job_id)
        return found if found is not None and found.stored.owner == owner else None

    async def get(self, job_id: str, owner: str) -> Job | None:
        live = self.live(job_id, owner)
        if live is not None:
            return live.stored.job
        stored = await self._in_database(self._store.get, job_id, owner)
        return None if stored is None else stored.job

    async def page(self, owner: str, wanted: JobFilter, *, limit: int, before: str | None) -> JobPage:
        found, older = await self._in_database(self._store.page, owner, wanted=wanted, limit=limit, before=before)
        jobs = (self._live[one.job.id].stored.job if one.job.id in self._live else one.job for one in found)
        return JobPage(jobs=tuple(jobs), next=older)

    async def request(self, job_id: str) -> str | None:
        """The request of a job, as JSON."""
        return await self._in_database(self._store.text, job_id, "request")

    async def result(self, job_id: str) -> str | None:
        return await self._in_database(self._store.text, job_id, "result")

    async def events(self, job: Job) -> list[LiveEvent]:
        """The events of a finished job; the last says that it is finished."""
        text = await self._in_database(self._store.text, job.id, "events")
        events = [] if text is None else read_events(text)
        number = events[-1].number + 1 if events else 1
        return [*events, LiveEvent(number, JOB_FINISHED, job.model_dump_json())]

    async def cancel(self, live: LiveJob) -> None:
        """Stops the job, and returns when it is stopped."""
        live.is_cancelled = True
        if live.task is not None:
            live.task.cancel()
        await live.closed()

    async def delete(self, job_id: str) -> None:
        """Forgets a finished job."""
        await self._in_database(self._store.delete, job_id)

    def begin_stop(self) -> None:
        """Stops the jobs at work: they go back to their places in the queue, for the next start."""
        self.is_stopping = True
        for live in list(self._live.values()):
            if live.task is not None:
                live.task.cancel()

    async def aclose(self) -> None:
        self.begin_stop()
        tasks = [live.task for live in self._live.values() if live.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._in_database(self._store.close)
        self._database.shutdown()

    def _begin(self, live: LiveJob) -> None:
        self._live[live.stored.job.id] = live
        live.task = asyncio.create_task(self._run(live))

    async def _run(self, live: LiveJob) -> None:
        try:
            async with self._slots:
                await self._at_work(live)
        except asyncio.CancelledError:
            await _to_the_end(self._interrupted(live))
        except Exception:
            log.exception("job %s: its state could not be kept", live.stored.job.id)
        finally:
            self._live.pop(live.stored.job.id, None)
            live.close()

    async def _interrupted(self, live: LiveJob) -> None:
        if live.is_cancelled:
            await self._finish(live, "cancelled")
        else:  # the service is being stopped
            await self._save(live.stored.changed(status="queued", started_at=None, progress=Progress()))

    async def _at_work(self, live: LiveJob) -> None:
        job, started = live.stored.job, time.perf_counter()
        live.stored = live.stored.changed(status="running", started_at=datetime.now(UTC))
        await self._save(live.stored)
        watching = JobListener(live.publish, partial(_note_progress, live))
        with self._metrics.working(job.kind):
            try:
                outcome = await self._work.do(job.kind, live.request, self._folder / job.id, watching)
            except FactloopError as error:
                log.warning("job %s failed: %s", job.id, error)
                await _to_the_end(self._finish(live, "failed", error=failure_words(error)))
            except Exception:
                log.exception("job %s failed", job.id)
                words = error_words("internal", "the work failed unexpectedly")
                await _to_the_end(self._finish(live, "failed", error=words))
            else:
                await _to_the_end(self._finish(live, "done", outcome=outcome))
        self._metrics.worked(job.kind, time.perf_counter() - started)

    async def _finish(
        self, live: LiveJob, status: Status, *, outcome: JobOutcome | None = None, error: ErrorWords | None = None
    ) -> None:
        summary = None if outcome is None else outcome.summary
        stored = live.stored.changed(status=status, finished_at=datetime.now(UTC), error=error, summary=summary)
        texts: dict[TextName, str] = {"events": await asyncio.to_thread(write_events, live.events)}
        if outcome is not None:
            texts["result"] = outcome.result
        await self._save(stored, texts)
        live.stored = stored  # the report is stored before its owner hears of it
        self._metrics.finished(live.stored.job, None if outcome is None else outcome.report)
        live.publish(live.stored.job, JOB_FINISHED)
        await asyncio.to_thread(shutil.rmtree, self._folder / live.stored.job.id, ignore_errors=True)

    async def _save(self, stored: StoredJob, texts: dict[TextName, str] | None = None) -> None:
        await self._in_database(self._store.save, stored, texts)

    async def _in_database(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls in the one thread that the database has: SQLite has one writer, and the order is kept.

        Raises RequestRefusal where it fails: a full disk, a lost server, a deleted file.
        """
        work: Any = partial(call, *args, **kwargs)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._database, work)
        except SQLAlchemyError as error:
            log.error("the database failed: %s", reason_of(error))
            raise not_kept() from error


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Waits for the end of `work`, which writes down what was paid for, even if the job is cancelled meanwhile."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


def _note_progress(live: LiveJob, progress: Progress) -> None:
    live.stored = live.stored.changed(progress=progress)


def not_kept() -> RequestRefusal:
    """The refusal for what the database does not take, or has not."""
    return RequestRefusal(
        503, "not_kept", "the service cannot keep jobs just now; try again later", headers=_retry_after()
    )


def _retry_after() -> dict[str, str]:
    return {"Retry-After": str(RETRY_AFTER_S)}
