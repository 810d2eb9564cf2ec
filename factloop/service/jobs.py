"""All jobs of the service: asked for, looked at, followed, cancelled and forgotten; and whether it can take more.

A job is in the database before it is answered for. With PostgreSQL several services share the jobs: what a caller asks
here may be done by another service, and is found, followed and cancelled here all the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import secrets
import shutil
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from factloop.core.errors import FactloopError
from factloop.core.files.private import make_private_folder, write_private
from factloop.reports.labels import GivenLabel
from factloop.service.access import SharedHits
from factloop.service.errors import RequestRefusal, failure_words, not_found, not_kept, stopping, unavailable
from factloop.service.kept import Database
from factloop.service.leases import Leases
from factloop.service.metrics import Metrics
from factloop.service.running import ATTEMPT, JOB_FINISHED, LiveEvent, LiveJob, Runner, read_events
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import Job, JobPage, Trouble
from factloop.service.spending import DayLimits, DayOver
from factloop.service.store import JobFilter, NoRoom, OtherRequest, Repeat, Room, StoredJob, TextName
from factloop.service.turns import Turns
from factloop.service.work import Work

KEPT_REPEATS_H = 24
"""Hours for which the name of a request (`Idempotency-Key`) is kept."""
DRAINED = 0.7
"""Share of the time for stopping in which calls under way may end; the rest is for saving and for answers."""
SWEEP_EVERY_S = 3_600.0

log = logging.getLogger(__name__)


class Jobs:
    """Lives in one event loop."""

    def __init__(
        self,
        database: Database,
        work: Work,
        folder: Path,
        metrics: Metrics,
        settings: ServiceSettings,
        day: DayLimits,
        *,
        sweep_every_s: float = SWEEP_EVERY_S,
    ) -> None:
        """`folder` is for the journals. It closes the database."""
        self._database, self._store, self._folder, self._day = database, database.store, folder, day
        self._keep_days, self._sweep_every_s = settings.keep_days, sweep_every_s
        weights = {owner: grant.weight for owner, grant in settings.keys.grants.items()}
        places = min(settings.max_jobs, settings.max_jobs_together or settings.max_jobs)
        share = settings.share_of(places)
        leases = Leases(
            database.store,
            settings.lease_s,
            most_at_work=settings.max_jobs_together,
            day=day,
            turns=Turns(weights, share, None if share is None else places),
            owners=settings.keys.grants if settings.keys else None,
        )
        self._runner = Runner(
            database,
            leases,
            work,
            folder,
            metrics,
            max_running=settings.max_jobs,
            drain_s=DRAINED * settings.stop_timeout_s,
        )
        most = settings.max_jobs + settings.max_queued
        self._room = Room(leases.service, most, day, settings.share_of(most))
        self._sweeping: asyncio.Task[None] | None = None

    @property
    def is_stopping(self) -> bool:
        return self._runner.is_stopping

    async def start(self) -> None:
        """Goes on with the jobs that an earlier process left."""
        self._runner.start()
        self._sweeping = asyncio.create_task(self._sweep())

    async def submit(self, owner: str, asked: Job, request: str, key: str | None = None) -> Job:
        """A job, in the database when this returns: the one asked for, or that of the same key. Raises RequestRefusal
        where too many wait or the day's budget is spent, and for the key of another request.
        """
        if self.is_stopping:
            raise stopping()
        digest = hashlib.sha256(f"{asked.kind}\n{request}".encode()).hexdigest()
        repeat = None if key is None else Repeat(key, digest)
        try:
            stored = await self._database.ask(self._store.add, StoredJob(asked, owner), request, repeat, self._room)
        except NoRoom as error:
            raise unavailable("busy", f"{error}; try again later") from error
        except DayOver as error:
            raise unavailable("budget_spent", f"{error}; try again later", round(error.wait_s + 0.5)) from error
        except OtherRequest as error:
            message = "this Idempotency-Key was sent with another request; give each request a key of its own"
            raise RequestRefusal(422, "key_reused", message, field="Idempotency-Key") from error
        self._runner.wake()
        return self._now(stored)

    async def get(self, job_id: str, owner: str) -> Job | None:
        stored = await self._find(job_id, owner)
        return None if stored is None else stored.job

    async def page(self, owner: str, wanted: JobFilter, *, limit: int, before: str | None) -> JobPage:
        found, older = await self._database.ask(self._store.page, owner, wanted=wanted, limit=limit, before=before)
        return JobPage(jobs=tuple(map(self._now, found)), next=older)

    async def text(self, job_id: str, name: TextName) -> str | None:
        """A text of a job as JSON: its request, its result, its labels."""
        return await self._database.ask(self._store.text, job_id, name)

    async def change_label(self, job_id: str, claim_id: str, label: GivenLabel | None) -> GivenLabel | None:
        """Keeps the label of a claim, or forgets it where it is None; returns the one before. Raises RequestRefusal."""
        try:
            return await self._database.ask(self._store.change_label, job_id, claim_id, label)
        except LookupError as error:  # deleted since it was looked up
            raise not_found("job") from error

    async def ended(self, job_id: str, owner: str) -> Job | None:
        """The job once it is over; None if it was deleted. Raises RequestRefusal where that cannot be waited for."""
        while True:
            live = self._live(job_id, owner)
            if live is not None:
                await live.settled.wait()
                if not live.is_closed:
                    raise not_kept()
            stored = await self._find(job_id, owner)
            if stored is None or stored.is_over:
                return None if stored is None else stored.job
            if self.is_stopping:
                message = f"the service is being stopped; job {job_id} goes on at its next start, or in another one"
                raise unavailable("stopping", message)
            if self._live(job_id, owner) is None:
                await self._runner.moved(self._runner.poll_s)

    async def follow(
        self, job_id: str, owner: str, after: int, heartbeat_s: float
    ) -> AsyncGenerator[LiveEvent | None, None]:
        """The events numbered above `after`, past and future, to the end; None where nothing happened for a while.

        It ends early where the service is stopped, or the database fails.
        """
        heard_s = time.monotonic()
        while True:
            live = self._live(job_id, owner)
            if live is not None:
                async for sent in live.follow(after, heartbeat_s):
                    after = after if sent is None else sent.number
                    yield sent
                if live.stored.is_over:
                    return
            if self.is_stopping:
                return
            try:
                stored = await self._find(job_id, owner)
                events = [] if stored is None else await self._events(stored)
            except RequestRefusal:
                return
            for one in events:
                if one.number > after:
                    after, heard_s = one.number, time.monotonic()
                    yield one
            if stored is None or stored.is_over:
                return
            if self._live(job_id, owner) is None:
                await self._runner.moved(min(self._runner.poll_s, heartbeat_s))
            if time.monotonic() - heard_s >= heartbeat_s:
                heard_s = time.monotonic()
                yield None

    async def cancel(self, job_id: str, owner: str) -> Job | None:
        """Stops the job, in whichever service it is, and returns it once it is over; None if it was deleted."""
        while True:
            live = self._live(job_id, owner)
            if live is not None:
                live.is_cancelled = True
                live.cancel()
                return await self.ended(job_id, owner)
            stored = await self._database.ask(self._runner.leases.cancel, job_id)
            if stored is None or stored.is_over:
                self._runner.show_move()
                return None if stored is None else stored.job
            if self.is_stopping:
                raise stopping()
            await self._runner.moved(self._runner.poll_s)

    async def delete(self, job_id: str) -> None:
        """Forgets a finished job."""
        await self._database.ask(self._store.delete, job_id)

    async def delete_older(self, owner: str, than: datetime) -> int:
        """Forgets the owner's finished jobs that were made before. Returns how many."""
        return await self._database.ask(self._store.delete_older, than, owner)

    async def probe(self) -> None:
        """Raises RequestRefusal where the database would not take a job."""
        await self._database.ask(self._store.probe)

    def begin_stop(self) -> None:
        """Stops the jobs at work: they go back to their places in the queue, for another service or the next start."""
        self._runner.begin_stop()

    async def aclose(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)
        await self._runner.aclose()
        await self._database.aclose()

    def _live(self, job_id: str, owner: str) -> LiveJob | None:
        """The job, while it is at work here."""
        found = self._runner.live.get(job_id)
        return found if found is not None and found.stored.owner == owner else None

    async def _find(self, job_id: str, owner: str) -> StoredJob | None:
        live = self._live(job_id, owner)
        return live.stored if live else await self._database.ask(self._store.get, job_id, owner)

    def _now(self, stored: StoredJob) -> Job:
        live = self._runner.live.get(stored.job.id)
        return stored.job if live is None else live.stored.job

    async def _events(self, stored: StoredJob) -> list[LiveEvent]:
        """The events that are kept; the last says that the job is over, if it is."""
        text = await self._database.ask(self._store.text, stored.job.id, "events")
        events = [] if text is None else read_events(text)
        if not stored.is_over:
            return events
        number = events[-1].number + 1 if events else stored.attempt * ATTEMPT + 1
        return [*events, LiveEvent(number, JOB_FINISHED, stored.job.model_dump_json())]

    async def _sweep(self) -> None:
        """Forgets what was kept long enough, now and every hour; first the journals of jobs that ended elsewhere."""
        await self._one_sweep(self._tidy_journals)
        while True:
            await self._one_sweep(self._forget_old)
            await asyncio.sleep(self._sweep_every_s)

    async def _one_sweep(self, sweep: Callable[[], Awaitable[None]]) -> None:
        """One sweep, whose failure does not end the sweeping: nothing would be forgotten until the next start."""
        (failure,) = await asyncio.gather(sweep(), return_exceptions=True)
        if failure is not None and not isinstance(failure, RequestRefusal):  # of a refusal the cause is in the log
            log.error("what was kept long enough could not be forgotten", exc_info=failure)

    async def _forget_old(self) -> None:
        now, store = datetime.now(UTC), self._store
        await self._database.ask(store.forget_repeats, now - timedelta(hours=KEPT_REPEATS_H))
        await self._database.ask(store.forget_spending, self._day)
        if store.is_shared:
            await self._database.ask(SharedHits(store.engine).forget)
        if self._keep_days is not None:
            n_old = await self._database.ask(store.delete_older, now - timedelta(days=self._keep_days))
            if n_old:
                log.info("%d jobs were older than %g days, and are deleted", n_old, self._keep_days)

    async def _tidy_journals(self) -> None:
        def names() -> list[str]:
            return [item.name for item in self._folder.iterdir()] if self._folder.is_dir() else []

        for name in await self._database.ask(self._store.finished, await asyncio.to_thread(names)):
            await asyncio.to_thread(shutil.rmtree, self._folder / name, ignore_errors=True)


ANSWERED_WITHIN_S = 3.0
TRIED_BYTES = 65_536
"""Bytes that are written to see whether the disk has room."""
WARM_AGAIN_S = 60.0
"""Seconds until what the first check needs is loaded again after a failure."""


class Readiness:
    """Looks whether the service can take a job. Lives in one event loop; looks once a second, however many ask."""

    def __init__(
        self, jobs: Jobs, folder: Path, warm_up: Callable[[], Awaitable[None]], again_s: float = WARM_AGAIN_S
    ) -> None:
        self._jobs, self._folder, self._again_s = jobs, folder, again_s
        self._cold: str | None = "what the first check needs is being loaded"
        self.warming = asyncio.create_task(self._warm(warm_up))
        """Ends once the service is warm. Stopping the service cancels it."""
        self._looking: asyncio.Task[tuple[Trouble, ...]] | None = None

    async def troubles(self) -> tuple[Trouble, ...]:
        """What keeps the service from taking jobs; nothing, where it takes them."""
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
            self._looking.add_done_callback(lambda _: asyncio.get_running_loop().call_later(1.0, self._forget))
        return await asyncio.shield(self._looking)

    def _forget(self) -> None:
        self._looking = None

    async def _look(self) -> tuple[Trouble, ...]:
        return (*self._of_warm_up(), *await self._of_database(), *await asyncio.to_thread(self._of_folder))

    async def _warm(self, warm_up: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await warm_up()
            except FactloopError as error:
                log.warning("what the first check needs could not be loaded: %s", error)
                self._cold = failure_words(error).message
            except Exception:
                log.exception("what the first check needs could not be loaded")
                self._cold = "it failed"
            else:
                self._cold = None
                return
            if self._jobs.is_stopping:  # the work may have failed as it was cancelled
                return
            await asyncio.sleep(self._again_s)

    def _of_warm_up(self) -> tuple[Trouble, ...]:
        return () if self._cold is None else (Trouble(what="warm_up", message=self._cold),)

    async def _of_database(self) -> tuple[Trouble, ...]:
        probing = asyncio.ensure_future(self._jobs.probe())
        try:
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                await asyncio.shield(probing)
        except TimeoutError:
            probing.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # no one waits for it now
            return (Trouble(what="database", message=f"it did not take a row within {ANSWERED_WITHIN_S:g} s"),)
        except RequestRefusal as refused:
            return (Trouble(what="database", message=refused.words.message),)
        return ()

    def _of_folder(self) -> tuple[Trouble, ...]:
        probe = self._folder / f"probe-{secrets.token_hex(8)}"
        try:
            make_private_folder(self._folder)
            write_private(probe, os.urandom(TRIED_BYTES))  # which no file system makes smaller
        except OSError as error:
            reason = error.strerror or "no reason given"
            return (Trouble(what="folder", message=f"nothing can be written there: {reason}"),)
        finally:
            with suppress(OSError):
                probe.unlink(missing_ok=True)
        return ()
