"""Limits the rate of model calls for all callers of a server together."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, MutableMapping

from factloop.setup.settings import RunSettings
from factloop.tools.calls.limiter import Limiter
from factloop.tools.models.chat import ChatModel
from factloop.tools.search.base import SearchTool
from factloop.tools.search.gateway import limiter_of_tool


class Pace:
    """One rate limiter per server (or search tool) and event loop, shared by all sessions."""

    def __init__(self, settings: RunSettings) -> None:
        self._settings, self._n_processes, self._is_drained = settings, 1, False
        self._limiters: MutableMapping[asyncio.AbstractEventLoop, dict[str, Limiter]] = weakref.WeakKeyDictionary()

    def limiter(self, chat: ChatModel) -> Limiter:
        return self._limiter(address_of(chat), lambda: new_limiter(self._settings))

    def limiter_of_search(self, tool: SearchTool) -> Limiter:
        """The limiter is removed when the tool is garbage-collected."""
        name, here = f"search {id(tool)}", self._here
        if name not in here:
            weakref.finalize(tool, here.pop, name, None).atexit = False
        return self._limiter(name, lambda: limiter_of_tool(tool))

    @property
    def _here(self) -> dict[str, Limiter]:
        return self._limiters.setdefault(asyncio.get_running_loop(), {})

    def _limiter(self, name: str, make: Callable[[], Limiter]) -> Limiter:
        here = self._here
        if name not in here:
            here[name] = make()
            here[name].share_ceiling(self._n_processes)
            if self._is_drained:
                here[name].close()
        return here[name]

    async def drain(self) -> None:
        """Stops sending requests from the running event loop, and waits for the requests in progress."""
        self._is_drained = True
        # Runs concurrently, so that all limiters stop sending before any of them waits.
        await asyncio.gather(*(limiter.drain() for limiter in self._here.values()))

    def share(self, n_processes: int) -> None:
        """From now on, divides `requests_per_second` among the processes, but not rates learnt from a server."""
        self._n_processes = n_processes
        for here in self._limiters.values():
            for limiter in here.values():
                limiter.share_ceiling(n_processes)


def new_limiter(settings: RunSettings) -> Limiter:
    """In batch mode, `concurrency` and `requests_per_second` have no effect."""
    if settings.batch:
        return Limiter()
    return Limiter(concurrency=settings.concurrency or None, requests_per_second=settings.requests_per_second)


def address_of(chat: ChatModel) -> str:
    """The URL of the model's server, or the model's name if there is no URL."""
    return chat.identity.get("base_url") or chat.name
