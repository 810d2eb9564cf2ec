"""Looks at what the service needs to take a job: its database, and room on its disk."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from factloop.core.files.private import make_private_folder, write_private
from factloop.service.errors import RequestRefusal
from factloop.service.jobs import Jobs
from factloop.service.shapes import Trouble

GOOD_FOR_S = 1.0
"""Seconds for which an answer is given again: many who ask cost no more than one."""
ANSWERED_WITHIN_S = 3.0
TRIED_BYTES = 65_536
"""Bytes that are written to see whether the disk has room."""


class Readiness:
    """Lives in one event loop."""

    def __init__(self, jobs: Jobs, folder: Path) -> None:
        self._jobs, self._folder = jobs, folder
        self._looking: asyncio.Task[tuple[Trouble, ...]] | None = None
        self._looked_s = -float("inf")

    async def troubles(self) -> tuple[Trouble, ...]:
        """What keeps the service from taking jobs; nothing, where it takes them."""
        if self._looking is None or (self._looking.done() and time.monotonic() - self._looked_s > GOOD_FOR_S):
            self._looking = asyncio.create_task(self._look())
        return await asyncio.shield(self._looking)

    async def _look(self) -> tuple[Trouble, ...]:
        try:
            return (*await self._of_database(), *await asyncio.to_thread(self._of_folder))
        finally:
            self._looked_s = time.monotonic()

    async def _of_database(self) -> tuple[Trouble, ...]:
        probing = asyncio.ensure_future(self._jobs.probe())
        try:
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                await asyncio.shield(probing)
        except TimeoutError:
            probing.add_done_callback(_heard)
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


def _heard(probing: asyncio.Future[None]) -> None:
    """Takes note of how a probe ended that no one waits for any more."""
    if not probing.cancelled():
        probing.exception()
