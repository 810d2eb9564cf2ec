"""The pace of model calls, shared by all that ask one server."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import MutableMapping

from factloop.setup.settings import RunSettings
from factloop.tools.calls.limiter import Limiter
from factloop.tools.models.chat import ChatModel


class Pace:
    """The limiters of models' servers, one for each address and event loop: sessions that share them share what was
    learnt from refusals, the ceiling, and the calls that may be in flight.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._settings, self._n_processes = settings, 1
        self._limiters: MutableMapping[asyncio.AbstractEventLoop, dict[str, Limiter]] = weakref.WeakKeyDictionary()

    def limiter(self, chat: ChatModel) -> Limiter:
        """The limiter of the model's server in the running event loop."""
        here, address = self._limiters.setdefault(asyncio.get_running_loop(), {}), address_of(chat)
        if address not in here:
            here[address] = new_limiter(self._settings)
            here[address].share_ceiling(self._n_processes)
        return here[address]

    async def drain(self) -> None:
        """Lets no further request leave in the running event loop, and waits for those under way."""
        here = self._limiters.get(asyncio.get_running_loop(), {})
        await asyncio.gather(*(limiter.drain() for limiter in here.values()))  # at once: all stop before any is awaited

    def share(self, n_processes: int) -> None:
        """From now on so many processes, this one included, divide the ceiling (`requests_per_second`) evenly.

        What is learnt from a server needs no division: each process is refused where all of them are too fast.
        """
        self._n_processes = n_processes
        for here in self._limiters.values():
            for limiter in here.values():
                limiter.share_ceiling(n_processes)


def new_limiter(settings: RunSettings) -> Limiter:
    """A limiter within the settings, which has learnt nothing yet. Requests that wait for a batch are not held back."""
    if settings.batch:
        return Limiter()
    return Limiter(concurrency=settings.concurrency or None, requests_per_second=settings.requests_per_second)


def address_of(chat: ChatModel) -> str:
    """The address of the model's server, or the model's name where it has none of its own."""
    return chat.identity.get("base_url") or chat.name
