"""Runs a few jobs at a time. Jobs can be resumed no matter how the process ends.

Everything that a job pays for is in its journal before the job uses it. If a service ends, the next service with a free
slot starts the job again. If both use the same folder, the job reads its journal and pays for nothing twice.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import EDQUOT, ENOSPC, EROFS
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from factloop.core.errors import FactloopError, NoPlaceToKeep, RunInUse
from factloop.core.files.private import make_private_folder
from factloop.core.records import Record
from factloop.service.errors import RequestRefusal, error_words, failure_words
from factloop.service.kept import Database
from factloop.service.leases import LeasedJob, Leases
from factloop.service.metrics import Metrics
from factloop.service.shapes import ErrorWords, Progress, Status
from factloop.service.store import StoredJob, TextName
from factloop.service.work import JobListener, JobOutcome, Work

JOB_FINISHED = "job_finished"
POLL_S = 1.0  # seconds between checks for changes by other services
TAKEN_AT_ONCE = 4  # few, because other services wait for the transaction, which takes long if the database is far away
RENEWALS = 5  # number of renewals within the duration of a lease
LONGEST_PAUSE_S = 15.0  # maximum number of seconds between attempts to save the end of a job
ATTEMPT = 1_000_000_000
"""Gap between the event numbers of two attempts, so that clients of the first one receive all later events."""

_FULL_OF_SQLITE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)
_DECODER = json.JSONDecoder()
_FIELDS = TypeAdapter(tuple[int, str, str])

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LiveEvent:
    number: int
    type: str
    data: str


class LiveJob:
    """A running job, with its events for clients that connect late. Bound to one event loop."""

    def __init__(self, stored: StoredJob, request: str) -> None:
        self.stored = stored
        self.request = request
        self.events: list[LiveEvent] = []
        self.task: asyncio.Task[None] | None = None
        self.is_cancelled = False
        self.is_lost = False  # whether another service took over the job, because the lease expired
        self.is_ending = False  # whether the job's last state is being saved
        self.is_closed = False
        """Whether there will be no more events, because the job has finished or the service is stopping."""
        self.n_kept = 0
        """Number of events saved in the database."""
        self._changed = asyncio.Event()
        self.settled = asyncio.Event()
        """Set when the job has ended, or when its end cannot be saved."""

    def publish(self, event: Record, type: str) -> None:
        number = (self.stored.attempt - 1) * ATTEMPT + len(self.events) + 1
        self.events.append(LiveEvent(number, type, event.model_dump_json()))
        self._wake()

    def cancel(self) -> None:
        """Lets the first step run before it stops the work, because the job would otherwise never end."""
        if self.task is not None:
            self.task.get_loop().call_soon(self.task.cancel)

    def close(self) -> None:
        self.is_closed = True
        self.settled.set()
        self._wake()

    async def follow(self, after: int, heartbeat_s: float) -> AsyncGenerator[LiveEvent | None, None]:
        """Yields all past and future events with numbers above `after`, and None from time to time."""
        place = 0
        while True:
            while place < len(self.events):
                sent = self.events[place]
                place += 1
                if sent.number > after:
                    yield sent
            if self.is_closed:
                return
            try:
                await asyncio.wait_for(self._changed.wait(), heartbeat_s)
            except TimeoutError:
                yield None

    def _wake(self) -> None:
        waited_for, self._changed = self._changed, asyncio.Event()
        waited_for.set()


def write_events(events: Sequence[LiveEvent]) -> str:
    """Encodes events one by one, because `json` blocks other threads while it encodes."""
    return f"[{','.join(json.dumps([one.number, one.type, one.data]) for one in events)}]"


def read_events(text: str) -> tuple[list[LiveEvent], str]:
    """Reads events from the start or from just after an event. Returns them and the unread rest."""
    events, place = [], 1  # after the bracket or the comma
    with suppress(ValueError, RecursionError):  # the text has ended, perhaps in the middle of an event, or is damaged
        while True:
            place += text.startswith(" ", place)  # earlier versions wrote spaces
            found, end = _DECODER.raw_decode(text, place)
            events.append(LiveEvent(*_FIELDS.validate_python(found)))
            place = end + 1
    return events, text[place - 1 :]


class Runner:
    """Takes jobs from the database and runs them. Bound to one event loop."""

    def __init__(
        self,
        database: Database,
        leases: Leases,
        work: Work,
        folder: Path,
        metrics: Metrics,
        *,
        max_running: int,
        drain_s: float = 0.0,
    ) -> None:
        """`folder` contains the journals. On shutdown, calls in progress have `drain_s` seconds to finish."""
        self._database, self._work, self._folder, self._metrics = database, work, folder, metrics
        self.leases, self._lease_s, self._max_running = leases, leases.seconds, max_running
        self.live: dict[str, LiveJob] = {}
        self.poll_s = POLL_S if database.store.is_shared else 5 * POLL_S
        """Between two checks of the database for changes."""
        self._stop, self._wake, self._moved = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._drain_s = drain_s
        self._stopping: asyncio.Task[None] | None = None

    @property
    def is_stopping(self) -> bool:
        return self._stop.is_set()

    def start(self) -> None:
        self._tasks.append(asyncio.create_task(self._take_jobs()))
        if self._database.store.is_shared:
            self._database.run_apart(self.leases.renew)  # leases would lapse behind many slow calls
            self._tasks += [asyncio.create_task(self._renew_leases()), asyncio.create_task(self._keep_events())]

    def wake(self) -> None:
        self._wake.set()

    async def moved(self, within_s: float) -> None:
        """Waits until a job starts or ends in this service, or `within_s` seconds have passed."""
        await _either(self._moved, within_s)

    def show_move(self) -> None:
        """Wakes all tasks that wait for a job to start or end."""
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    def begin_stop(self) -> None:
        """Stops the running jobs. They return to their places in the queue, for another service or the next start."""
        if self._stopping is None:
            self._stop.set()
            self.wake()
            self.show_move()
            self._stopping = asyncio.create_task(self._stop_jobs())

    async def _stop_jobs(self) -> None:
        if self.live:
            await self._work.drain(self._drain_s)
        for live in list(self.live.values()):
            live.cancel()

    async def aclose(self) -> None:
        self.begin_stop()
        assert self._stopping is not None
        await self._stopping
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        tasks = [live.task for live in self.live.values() if live.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _take_jobs(self) -> None:
        has_begun = False
        while not self.is_stopping:
            with suppress(RequestRefusal):  # will be tried again; the failure has been logged
                if not has_begun:
                    await self._database.ask(self.leases.begin)
                    await self._database.ask(self.leases.cancel_disowned)
                    has_begun = True
                await self._take()
            await _either(self._wake, self.poll_s)
            self._wake.clear()

    async def _take(self) -> None:
        most = min(TAKEN_AT_ONCE, self._max_running - len(self.live))
        if most < 1:
            return
        # After an outage of the database, all leases have expired. The services that run the jobs must first have time
        # to renew their leases.
        lapsed = self._database.in_touch_s >= self._lease_s
        taking = asyncio.ensure_future(self._database.ask(self.leases.take, most, lapsed=lapsed))
        try:
            taken = await asyncio.shield(taking)
        except asyncio.CancelledError:  # jobs leased in the meantime return to the queue
            with suppress(RequestRefusal):
                for one in await taking:
                    await self._database.save(self.leases.give_back, one.stored)
            raise
        for one in taken:
            live = LiveJob(one.stored, one.request)
            self.live[one.stored.job.id] = live
            live.task = asyncio.create_task(self._run(live, one))
            if self.is_stopping:
                live.cancel()
        if taken:
            self.show_move()
        if len(taken) == most:
            self.wake()

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(self._lease_s / RENEWALS)
            if not (here := list(self.live.values())):
                continue
            try:
                renewal = await self._database.save(self.leases.renew, [live.stored for live in here])
            except RequestRefusal:
                continue
            self._work.share_pace(renewal.n_services)
            for live in here:
                job_id = live.stored.job.id
                if live.is_ending or live.is_closed:
                    continue
                if job_id not in renewal.held:
                    log.warning("job %s: the lease was lost, so this service has stopped the job", job_id)
                    live.is_lost = True
                    live.cancel()
                elif job_id in renewal.cancelled:
                    live.is_cancelled = True
                    live.cancel()

    async def _keep_events(self) -> None:
        """Saves a job's events whenever their number has grown by an eighth. Lease renewals do not wait for this."""
        while True:
            await asyncio.sleep(self._lease_s / RENEWALS)
            with suppress(RequestRefusal):
                for live in list(self.live.values()):
                    n_events = len(live.events)
                    if n_events > live.n_kept * 9 // 8 and not live.is_ending:
                        text = await asyncio.to_thread(write_events, live.events[:n_events])
                        await self._database.save(self.leases.keep_events, live.stored, text)
                        live.n_kept = n_events

    async def _run(self, live: LiveJob, leased: LeasedJob) -> None:
        try:
            await self._at_work(live, leased)
        except asyncio.CancelledError:
            await _to_the_end(self._interrupted(live))
        except Exception:
            log.exception("job %s: its state could not be saved", live.stored.job.id)
        finally:
            if self.live.get(live.stored.job.id) is live:  # otherwise, it was requeued and has already restarted
                del self.live[live.stored.job.id]
            live.close()
            self.show_move()
            self.wake()

    async def _interrupted(self, live: LiveJob) -> None:
        if live.is_lost or live.stored.is_over:
            return
        with suppress(RequestRefusal):  # the service is stopping, so another one will continue the job
            if live.is_cancelled:
                await self._finish(live, "cancelled")
            else:
                live.is_ending = True
                await self._database.save(self.leases.give_back, live.stored)

    async def _at_work(self, live: LiveJob, leased: LeasedJob) -> None:
        job = live.stored.job
        folder = self._folder / job.id
        if leased.may_have_paid and self._work.asks_others and not folder.exists():
            log.warning(
                "job %s restarts from the beginning, because the answers already paid for are in another folder", job.id
            )
            live.stored = live.stored.changed(begun_anew=True)
        with suppress(OSError):  # shows the next attempt that this attempt had the same folder
            await asyncio.to_thread(make_private_folder, folder)
        with self._metrics.working.labels(job.kind).track_inprogress(), self._metrics.seconds.labels(job.kind).time():
            try:
                outcome = await self._do(live, folder)
            except FactloopError as error:
                if isinstance(error, NoPlaceToKeep) and _may_pass(error):  # a new attempt continues from the journal
                    live.is_ending = True
                    await _to_the_end(self._save_end(live, partial(self.leases.give_back, live.stored)))
                    return
                log.warning("job %s%s failed: %s", job.id, _of_request(live), error)
                ending = self._finish(live, "failed", error=failure_words(error))
            except Exception:
                log.exception("job %s%s failed", job.id, _of_request(live))
                ending = self._finish(live, "failed", error=error_words("internal", "the job failed unexpectedly"))
            else:
                ending = self._finish(live, "done", outcome=outcome)
            await _to_the_end(ending)

    async def _do(self, live: LiveJob, folder: Path) -> JobOutcome:
        """Waits until no other service uses the run directory. If the disk has no space for answers, pauses first."""
        watching = JobListener(live.publish, partial(_note_progress, live))
        while True:
            try:
                job, owner = live.stored.job, live.stored.owner
                return await self._work.do(
                    job.kind, live.request, folder, watching, owner=owner, begun_anew=job.begun_anew
                )
            except RunInUse:
                if not self._database.store.is_shared:
                    raise
                await asyncio.sleep(self._lease_s / RENEWALS)
            except NoPlaceToKeep as error:
                if _may_pass(error):
                    log.error("job %s%s waits until its answers can be saved: %s", job.id, _of_request(live), error)
                    live.settled.set()  # tells waiting callers that the job cannot be saved at the moment
                    await asyncio.sleep(LONGEST_PAUSE_S)
                raise

    async def _finish(
        self, live: LiveJob, status: Status, *, outcome: JobOutcome | None = None, error: ErrorWords | None = None
    ) -> None:
        live.is_ending = True
        summary = None if outcome is None else outcome.summary
        stored = live.stored.changed(status=status, finished_at=datetime.now(UTC), error=error, summary=summary)
        texts: dict[TextName, str] = {"events": await asyncio.to_thread(write_events, live.events)}
        if outcome is not None:
            texts["result"] = outcome.result
        if not await self._save_end(live, partial(self.leases.end, stored, texts)):
            log.warning("job %s: taken over by another service, or deleted; its outcome is not saved", stored.job.id)
            return
        live.stored = stored  # the report is saved before its owner is notified
        self._metrics.finished(stored.job, stored.owner, None if outcome is None else outcome.report)
        live.publish(stored.job, JOB_FINISHED)
        await asyncio.to_thread(shutil.rmtree, self._folder / stored.job.id, ignore_errors=True)

    async def _save_end(self, live: LiveJob, save: partial[bool]) -> bool:
        pause_s = POLL_S / 4
        while True:
            try:
                return await self._database.save(save)
            except RequestRefusal:
                live.settled.set()  # tells waiting callers that the job cannot be saved at the moment
                if self.is_stopping:
                    raise
            await _either(self._stop, pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


async def _either(event: asyncio.Event, within_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await event.wait()


async def _to_the_end(work: Coroutine[Any, Any, object]) -> None:
    """Results that were paid for are saved here, so even a cancelled job waits."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


def _note_progress(live: LiveJob, progress: Progress) -> None:
    live.stored = live.stored.changed(progress=progress)


def _may_pass(error: NoPlaceToKeep) -> bool:
    """A full or read-only disk may be temporary, unlike missing permissions."""
    code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF
    return code in _FULL_OF_SQLITE or getattr(error.__cause__, "errno", None) in (ENOSPC, EDQUOT, EROFS)


def _of_request(live: LiveJob) -> str:
    return f" (request {live.stored.job.request_id})" if live.stored.job.request_id else ""
