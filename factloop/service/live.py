"""A job that is at work in this service, and its watchers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from factloop.core.records import Record
from factloop.service.store import StoredJob

ATTEMPT = 1_000_000_000
"""Gap between the event numbers of two attempts, so that a watcher of the first sees all of the second."""


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
        self._changed = asyncio.Event()
        self._settled = asyncio.Event()

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
        self._settled.set()
        self._wake()

    def note_trouble(self) -> None:
        """Lets those go who wait for the end: it cannot be saved just now."""
        self._settled.set()

    async def settled(self) -> None:
        """Waits until the job has ended, or its end cannot be saved."""
        await self._settled.wait()

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
    """The events as one JSON text."""
    return json.dumps([[one.number, one.type, one.data] for one in events])


def read_events(text: str) -> list[LiveEvent]:
    """The events of one JSON text."""
    return [LiveEvent(number, type, data) for number, type, data in json.loads(text)]
