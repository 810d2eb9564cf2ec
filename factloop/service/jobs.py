"""Creates, finds, follows, cancels and deletes jobs, and limits their number.

A job is saved before the request is answered. With PostgreSQL, several services can share the jobs: a job submitted to
one may run in another, and it can be found, followed and cancelled in any of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import os
import secrets
import shutil
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from factloop.core.errors import FactloopError
from factloop.core.files.private import make_private_folder, write_private
from factloop.entrance.keys import LOOK_EVERY_S
from factloop.entrance.turns import Turns
from factloop.reports.labels import GivenLabel
from factloop.service.access import SharedHits
from factloop.service.errors import RequestRefusal, failure_words, not_found, not_kept, stopping, unavailable
from factloop.service.kept import Database
from factloop.service.leases import Leases
from factloop.service.metrics import Metrics
from factloop.service.running import ATTEMPT, JOB_FINISHED, LiveEvent, LiveJob, Runner, read_events
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import Job, JobPage, Trouble
from factloop.service.spending import Cost, DayLimits, DayOver
from factloop.service.store import (
    LONGEST_TEXT,
    JobFilter,
    NoRoom,
    OtherRequest,
    Repeat,
    Room,
    StoredJob,
    TextName,
    made_at,
)
from factloop.service.work import Work

KEPT_REPEATS_H = 24  # hours for which a request's name (`Idempotency-Key`) is kept
SWEEP_EVERY_S = 3_600.0
EVENTS_AT_ONCE = 250_000  # maximum number of characters of saved events per query

log = logging.getLogger(__name__)


def _read_portion(rest: str, portion: str | None) -> tuple[list[LiveEvent], str, int]:
    return *read_events(rest + (portion or "")), len(portion or "")


class Jobs:
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
        """`folder` contains the journals. `aclose` also closes the database."""
        self._database, self._store, self._folder, self._day = database, database.store, folder, day
        self._settings, self._sweep_every_s = settings, sweep_every_s
        self._turns, self._together = Turns(), Turns()
        leases = Leases(
            database.store,
            settings.lease_s,
            most_at_work=settings.max_jobs_together,
            day=day,
            turns=self._turns,
            together=self._together,
            keys=settings.keys,
        )
        self._runner = Runner(
            database, leases, work, folder, metrics, max_running=settings.max_jobs, drain_s=settings.drain_s
        )
        self._share_places()
        self._tasks: list[asyncio.Task[None]] = []
        self._listing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._slowly: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """Held during an owner's slow calls, so that other callers take turns with each of them."""

    def _share_places(self) -> None:
        settings = self._settings
        weights = {owner: grant.weight for owner, grant in settings.keys.grants.items()}
        for turns, places in ((self._turns, settings.max_jobs), (self._together, settings.max_jobs_together)):
            share = None if places is None else settings.share_of(places)
            turns.weights, turns.most_each, turns.places = weights, share, None if share is None else places
        most = settings.max_jobs + settings.max_queued
        self._room = Room(self._runner.leases.service, most, self._day, settings.share_of(most))

    @property
    def is_stopping(self) -> bool:
        return self._runner.is_stopping

    async def start(self) -> None:
        self._runner.start()
        self._tasks += [asyncio.create_task(self._sweep()), asyncio.create_task(self._watch_keys())]

    async def submit(self, owner: str, asked: Job, request: str, key: str | None = None) -> Job:
        """Saves a job, unless an earlier one has the same `key`. Raises RequestRefusal if there is no room for it, the
        daily budget is spent, or the key belongs to a different request."""
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
            message = "this Idempotency-Key was already used for a different request; use a new key for each request"
            raise RequestRefusal(422, "key_reused", message, field="Idempotency-Key") from error
        if (keys := self._settings.keys) and owner not in keys.grants:  # the key was removed meanwhile
            await self.cancel(stored.job.id, owner)
            raise RequestRefusal(401, "unauthorized", "the key has been removed")
        self._runner.wake()
        return self._now(stored)

    async def get(self, job_id: str, owner: str) -> Job | None:
        stored = await self._find(job_id, owner)
        return None if stored is None else stored.job

    async def page(self, owner: str, wanted: JobFilter, *, limit: int, before: str | None) -> JobPage:
        async with self._listing[owner]:  # one list at a time, so that callers take turns
            found, older = await self._database.ask(self._store.page, owner, wanted=wanted, limit=limit, before=before)
        return JobPage(jobs=tuple(map(self._now, found)), next=older)

    async def text(self, job_id: str, owner: str, name: TextName) -> str | None:
        """Reads one text per owner at a time, because other callers wait for the database meanwhile."""
        async with self._slowly[owner]:
            return await self._database.ask(self._store.text, job_id, name)

    async def change_label(self, job_id: str, owner: str, claim_id: str, label: GivenLabel | None) -> GivenLabel | None:
        """Saves or, if `label` is None, deletes a claim's label. Returns the old label. Raises RequestRefusal."""
        try:
            async with self._slowly[owner]:
                return await self._database.ask(self._store.change_label, job_id, claim_id, label)
        except LookupError as error:  # the job has been deleted since it was found
            raise not_found("job") from error

    async def ended(self, job_id: str, owner: str) -> Job | None:
        """Waits until the job ends. None if it was deleted. Raises RequestRefusal."""
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
                message = "the service is shutting down; the job will continue after a restart, or in another service"
                raise unavailable("stopping", message)
            if self._live(job_id, owner) is None:
                if self._database.is_in_trouble:  # no service can run the job
                    raise not_kept()
                await self._runner.moved(self._runner.poll_s)

    async def follow(
        self, job_id: str, owner: str, after: int, heartbeat_s: float, compute: Callable[..., Awaitable[Any]]
    ) -> AsyncGenerator[list[LiveEvent], None]:
        """Yields past and future events with numbers above `after`, and an empty list when nothing has happened for a
        while. `compute` reads saved events in the caller's turns. Ends if the service stops or the database fails."""
        heard_s = time.monotonic()
        while True:
            live = self._live(job_id, owner)
            if live is not None:
                async for sent in live.follow(after, heartbeat_s):
                    after = after if sent is None else sent.number
                    yield [] if sent is None else [sent]
                if live.stored.is_over:
                    return
            if self.is_stopping:
                return
            try:
                stored = await self._find(job_id, owner)
                async with aclosing(self._events(stored, compute)) as portions:
                    async for portion in portions:
                        if events := [one for one in portion if one.number > after or one.type == JOB_FINISHED]:
                            after, heard_s = events[-1].number, time.monotonic()
                            yield events
            except RequestRefusal:
                return
            if stored is None or stored.is_over:
                return
            if self._live(job_id, owner) is None:
                await self._runner.moved(min(self._runner.poll_s, heartbeat_s))
            if time.monotonic() - heard_s >= heartbeat_s:
                heard_s = time.monotonic()
                yield []

    async def cancel(self, job_id: str, owner: str) -> Job | None:
        """Cancels the job, in whichever service runs it, and waits until it ends. None if it was deleted."""
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
        await self._database.ask(self._store.delete, job_id)
        await asyncio.to_thread(shutil.rmtree, self._folder / job_id, ignore_errors=True)  # if its service died

    async def delete_older(self, days: float, owner: str | None = None) -> int:
        """Deletes finished jobs (one owner's or everyone's) that were created more than `days` ago. Returns how many
        there were. Other callers are served in between."""
        n_deleted = 0
        while True:
            async with self._slowly[owner or ""]:
                n_last = await self._database.ask(self._store.delete_some, days, owner)
            if n_last is None:
                return n_deleted
            n_deleted += n_last

    async def day_of(self, owner: str) -> tuple[Cost, Cost]:
        """The owner's daily limits, and what is left of them if the database is available."""
        day, left = self._day.of_owner(owner), Cost()
        with suppress(RequestRefusal):
            left = await self._database.ask(self._store.within, partial(self._day.left, owner=owner))
        return day, left

    async def queue(self) -> tuple[float, float]:
        """The number of jobs in the queue and the oldest job's age in seconds. Both are NaN if unknown."""
        try:
            n_waiting, oldest = await self._database.ask(self._store.waiting)
        except RequestRefusal:
            return math.nan, math.nan
        return n_waiting, 0.0 if oldest is None else max(0.0, time.time() - made_at(oldest))

    async def probe(self) -> None:
        """Raises RequestRefusal if the database cannot save a job."""
        await self._database.ask(self._store.probe)

    def begin_stop(self) -> None:
        self._runner.begin_stop()

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._runner.aclose()
        if not self._database.is_in_trouble and (n_waiting := (await self.queue())[0]) > 0:
            log.info("unfinished jobs: %d; they will continue after a restart, or in another service", n_waiting)
        await self._database.aclose()

    def _live(self, job_id: str, owner: str) -> LiveJob | None:
        found = self._runner.live.get(job_id)
        return found if found is not None and found.stored.owner == owner else None

    async def _find(self, job_id: str, owner: str) -> StoredJob | None:
        live = self._live(job_id, owner)
        return live.stored if live else await self._database.ask(self._store.get, job_id, owner)

    def _now(self, stored: StoredJob) -> Job:
        live = self._runner.live.get(stored.job.id)
        return stored.job if live is None else live.stored.job

    async def _events(
        self, stored: StoredJob | None, compute: Callable[..., Awaitable[Any]]
    ) -> AsyncGenerator[list[LiveEvent], None]:
        if stored is None:
            return
        # The text of an unfinished job may change between two portions.
        most = EVENTS_AT_ONCE if stored.is_over else LONGEST_TEXT
        number, start, rest = stored.attempt * ATTEMPT, 0, ""
        while True:
            fetch = partial(self._database.ask, self._store.text, stored.job.id, "events", start, most)
            events, rest, n_read = await compute(partial(_read_portion, rest), fetch)
            if events:
                number = events[-1].number
                yield events
            start += n_read
            if n_read < most:
                break
        if stored.is_over:
            yield [LiveEvent(number + 1, JOB_FINISHED, stored.job.model_dump_json())]

    async def _watch_keys(self) -> None:
        keys, applied = self._settings.keys, self._settings.keys.grants
        while keys:
            await asyncio.sleep(LOOK_EVERY_S)
            keys.refresh()
            if (grants := keys.grants) is not applied:
                self._share_places()
                with suppress(RequestRefusal):  # will be tried again; the failure has been logged
                    await self._database.ask(self._runner.leases.cancel_disowned, keys.names.keys() - grants.keys())
                    applied = grants
            for live in self._runner.live.values():
                if live.stored.owner not in keys.grants and not live.is_cancelled:
                    live.is_cancelled = True
                    live.cancel()

    async def _sweep(self) -> None:
        """Deletes expired data now and every hour, starting with the journals of jobs that ended in other services."""
        await self._one_sweep(self._tidy_journals)
        while True:
            await self._one_sweep(self._forget_old)
            await asyncio.sleep(self._sweep_every_s)

    async def _one_sweep(self, sweep: Callable[[], Awaitable[None]]) -> None:
        (failure,) = await asyncio.gather(sweep(), return_exceptions=True)
        if failure is not None and not isinstance(failure, RequestRefusal):  # the cause of a rejection has been logged
            log.error("could not delete expired records", exc_info=failure)

    async def _forget_old(self) -> None:
        store = self._store
        await self._database.ask(store.forget_repeats, KEPT_REPEATS_H)
        await self._database.ask(store.within, self._day.forget)
        if store.is_shared:
            await self._database.ask(SharedHits(store.engine).forget)
        if (days := self._settings.keep_days) is not None and (n_old := await self.delete_older(days)):
            log.info("jobs deleted because they were older than %g days: %d", days, n_old)

    async def _tidy_journals(self) -> None:
        def names() -> list[str]:
            return [item.name for item in self._folder.iterdir()] if self._folder.is_dir() else []

        for name in await self._database.ask(self._store.finished, await asyncio.to_thread(names)):
            await asyncio.to_thread(shutil.rmtree, self._folder / name, ignore_errors=True)


ANSWERED_WITHIN_S = 3.0
TRIED_BYTES = 65_536  # number of bytes written to test whether the disk has space
WARM_AGAIN_S = 60.0  # seconds before another attempt to warm up


class Readiness:
    """Whether the service can accept jobs. Bound to one event loop. Checks at most once a second."""

    def __init__(
        self, jobs: Jobs, folder: Path, warm_up: Callable[[], Awaitable[None]], again_s: float = WARM_AGAIN_S
    ) -> None:
        self._jobs, self._folder, self._again_s = jobs, folder, again_s
        self._cold: str | None = "the service is still loading what the first check needs"
        self.warming = asyncio.create_task(self._warm(warm_up))
        """Cancelled if the service stops."""
        self._looking: asyncio.Task[tuple[Trouble, ...]] | None = None

    async def troubles(self) -> tuple[Trouble, ...]:
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
            self._looking.add_done_callback(lambda _: asyncio.get_running_loop().call_later(1.0, self._forget))
        return await asyncio.shield(self._looking)

    def _forget(self) -> None:
        self._looking = None

    async def _look(self) -> tuple[Trouble, ...]:
        cold = () if self._cold is None else (Trouble(what="warm_up", message=self._cold),)
        return (*cold, *await self._of_database(), *await asyncio.to_thread(self._of_folder))

    async def _warm(self, warm_up: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await warm_up()
            except FactloopError as error:
                log.warning("warm-up failed: %s", error)
                self._cold = failure_words(error).message
            except Exception:
                log.exception("warm-up failed")
                self._cold = "the warm-up failed"
            else:
                self._cold = None
                return
            if self._jobs.is_stopping:  # the work may have failed because of the cancellation
                return
            await asyncio.sleep(self._again_s)

    async def _of_database(self) -> tuple[Trouble, ...]:
        probing = asyncio.ensure_future(self._jobs.probe())
        try:
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                await asyncio.shield(probing)
        except TimeoutError:
            probing.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody waits for it now
            return (Trouble(what="database", message=f"saving a row took more than {ANSWERED_WITHIN_S:g} s"),)
        except RequestRefusal as refused:
            return (Trouble(what="database", message=refused.words.message),)
        return ()

    def _of_folder(self) -> tuple[Trouble, ...]:
        probe = self._folder / f"probe-{secrets.token_hex(8)}"
        try:
            make_private_folder(self._folder)
            write_private(probe, os.urandom(TRIED_BYTES))  # random data, which no file system can compress
        except OSError as error:
            reason = error.strerror or "no reason was given"
            return (Trouble(what="folder", message=f"cannot write to the folder: {reason}"),)
        finally:
            with suppress(OSError):
                probe.unlink(missing_ok=True)
        return ()
