"""Runs jobs, a few at a time, and leaves them resumable however the process ends.

What a job pays for is in its journal before it is used. A job that was at work when its service ended is begun again by
the next service that has room: with its journal, where both have the same folder, so that nothing is paid for twice.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from factloop.core.errors import FactloopError, RunInUse
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
POLL_S = 1.0
"""Seconds between two looks at what other services did."""
RENEWALS = 5
"""How often a lease is renewed before it would lapse."""
LONGEST_PAUSE_S = 15.0
"""Seconds between two attempts to save the end of a job."""
ATTEMPT = 1_000_000_000
"""Gap between the event numbers of two attempts, so that a watcher of the first sees all of the second."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LiveEvent:
    """One event as it is sent."""

    number: int
    type: str
    data: str
    """JSON in one line."""


class LiveJob:
    """Keeps the events of a job, so that late watchers see all of them. Lives in one event loop."""

    def __init__(self, stored: StoredJob, request: str) -> None:
        self.stored = stored
        self.request = request
        self.events: list[LiveEvent] = []
        self.task: asyncio.Task[None] | None = None
        self.is_cancelled = False
        """Whether its owner cancelled it."""
        self.is_lost = False
        """Whether another service took it, as the lease lapsed."""
        self.is_ending = False
        """Whether its last state is being saved."""
        self.is_closed = False
        """Whether its events have ended: it is finished, or the service is being stopped."""
        self.n_kept = 0
        """Its events that are in the database."""
        self._changed = asyncio.Event()
        self.settled = asyncio.Event()
        """Set when it has ended, or its end cannot be saved."""

    def publish(self, event: Record, type: str) -> None:
        """Shows the event to all who watch."""
        number = (self.stored.attempt - 1) * ATTEMPT + len(self.events) + 1
        self.events.append(LiveEvent(number, type, event.model_dump_json()))
        self._wake()

    def cancel(self) -> None:
        """Stops its work, in the one way that its flags say; after its first step, without which it would not end."""
        if self.task is not None:
            self.task.get_loop().call_soon(self.task.cancel)

    def close(self) -> None:
        self.is_closed = True
        self.settled.set()
        self._wake()

    async def follow(self, after: int, heartbeat_s: float) -> AsyncGenerator[LiveEvent | None, None]:
        """The events numbered above `after`, past and future, to the end; None where nothing happened for a while."""
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
    """The events as one JSON text, written one by one: `json` lets no other thread in until it is done."""
    return f"[{','.join(json.dumps([one.number, one.type, one.data]) for one in events)}]"


def read_events(text: str) -> list[LiveEvent]:
    """The events of one JSON text."""
    return [LiveEvent(number, type, data) for number, type, data in json.loads(text)]


class Runner:
    """Takes jobs from the database, and runs them. Lives in one event loop."""

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
        """`folder` is for the journals; `drain_s`: seconds that calls under way have to end when it is stopped."""
        self._database, self._work, self._folder, self._metrics = database, work, folder, metrics
        self.leases, self._lease_s, self._max_running = leases, leases.seconds, max_running
        self.live: dict[str, LiveJob] = {}
        self.poll_s = POLL_S if database.store.is_shared else 5 * POLL_S
        """Seconds after which another look at the database may show something new."""
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
            self._tasks += [asyncio.create_task(self._renew_leases()), asyncio.create_task(self._keep_events())]

    def wake(self) -> None:
        """Looks for jobs now."""
        self._wake.set()

    async def moved(self, within_s: float) -> None:
        """Waits until a job began or ended here, or so many seconds."""
        await _either(self._moved, within_s)

    def show_move(self) -> None:
        """Wakes all who wait for a move."""
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    def begin_stop(self) -> None:
        """Stops the jobs at work: they go back to their places in the queue, for another service or the next start."""
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
            with suppress(RequestRefusal):  # it is tried again; what failed is in the log
                if not has_begun:
                    await self._database.ask(self.leases.begin)
                    has_begun = True
                await self._take()
            await _either(self._wake, self.poll_s)
            self._wake.clear()

    async def _take(self) -> None:
        room = self._max_running - len(self.live)
        if room < 1:
            return
        # After an outage of the database all leases have lapsed, and those at work must come first to renew theirs.
        lapsed = self._database.in_touch_s >= self._lease_s
        taking = asyncio.ensure_future(self._database.ask(self.leases.take, room, lapsed=lapsed))
        try:
            taken = await asyncio.shield(taking)
        except asyncio.CancelledError:  # what was taken meanwhile is given back
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
                    log.warning("job %s: the lease was lost; it is stopped here", job_id)
                    live.is_lost = True
                    live.cancel()
                elif job_id in renewal.cancelled:
                    live.is_cancelled = True
                    live.cancel()

    async def _keep_events(self) -> None:
        """Keeps events where there are an eighth more, as all are written. No lease waits for these megabytes."""
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
            log.exception("job %s: its state could not be kept", live.stored.job.id)
        finally:
            self.live.pop(live.stored.job.id, None)
            live.close()
            self.show_move()
            self.wake()

    async def _interrupted(self, live: LiveJob) -> None:
        if live.is_lost or live.stored.is_over:
            return
        with suppress(RequestRefusal):  # where the service is being stopped: the next one goes on with the job
            if live.is_cancelled:
                await self._finish(live, "cancelled")
            else:
                live.is_ending = True
                await self._database.save(self.leases.give_back, live.stored)

    async def _at_work(self, live: LiveJob, leased: LeasedJob) -> None:
        job = live.stored.job
        folder = self._folder / job.id
        if leased.was_left and not folder.exists():
            log.warning(
                "job %s: starts again from the beginning; the answers that it paid for before are in another folder",
                job.id,
            )
            live.stored = live.stored.changed(begun_anew=True)
        with self._metrics.working.labels(job.kind).track_inprogress(), self._metrics.seconds.labels(job.kind).time():
            try:
                outcome = await self._do(live, folder)
            except FactloopError as error:
                log.warning("job %s%s failed: %s", job.id, _of_request(live), error)
                ending = self._finish(live, "failed", error=failure_words(error))
            except Exception:
                log.exception("job %s%s failed", job.id, _of_request(live))
                ending = self._finish(live, "failed", error=error_words("internal", "the work failed unexpectedly"))
            else:
                ending = self._finish(live, "done", outcome=outcome)
            await _to_the_end(ending)

    async def _do(self, live: LiveJob, folder: Path) -> JobOutcome:
        """Does the work; waits while a service that lost the lease, and does not know it yet, has the run directory."""
        watching = JobListener(live.publish, partial(_note_progress, live))
        while True:
            await asyncio.to_thread(make_private_folder, folder)
            try:
                job, owner = live.stored.job, live.stored.owner
                return await self._work.do(
                    job.kind, live.request, folder, watching, owner=owner, begun_anew=job.begun_anew
                )
            except RunInUse:
                if not self._database.store.is_shared:
                    raise
                await asyncio.sleep(self._lease_s / RENEWALS)

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
            log.warning("job %s: was taken by another service, or deleted; its end is not saved", stored.job.id)
            return
        live.stored = stored  # the report is stored before its owner hears of it
        self._metrics.finished(stored.job, None if outcome is None else outcome.report)
        live.publish(stored.job, JOB_FINISHED)
        await asyncio.to_thread(shutil.rmtree, self._folder / stored.job.id, ignore_errors=True)

    async def _save_end(self, live: LiveJob, save: partial[bool]) -> bool:
        """Saves until it is saved. Raises RequestRefusal where the service is stopped before: the journal stays."""
        pause_s = POLL_S / 4
        while True:
            try:
                return await self._database.save(save)
            except RequestRefusal:
                live.settled.set()  # those who wait are told that it cannot be saved just now
                if self.is_stopping:
                    raise
            await _either(self._stop, pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


async def _either(event: asyncio.Event, within_s: float) -> None:
    """Waits for the event, or so many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await event.wait()


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Waits for the end of `work`, which writes down what was paid for, even if the job is cancelled meanwhile."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


def _note_progress(live: LiveJob, progress: Progress) -> None:
    live.stored = live.stored.changed(progress=progress)


def _of_request(live: LiveJob) -> str:
    return f" (request {live.stored.job.request_id})" if live.stored.job.request_id else ""
