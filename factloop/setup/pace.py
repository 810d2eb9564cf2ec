"""Controls the rate of model calls, which all callers of a server share."""

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
    """Rate limiters for servers, one for each combination of URL (or search tool) and event loop.

    Sessions that use the same limiter share its maximum rate, its limit on calls in flight, and what it has learnt from
    rejections.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._settings, self._n_processes, self._is_drained = settings, 1, False
        self._limiters: MutableMapping[asyncio.AbstractEventLoop, dict[str, Limiter]] = weakref.WeakKeyDictionary()

    def limiter(self, chat: ChatModel) -> Limiter:
        """Returns the limiter for the model's server in the running event loop."""
        return self._limiter(address_of(chat), lambda: new_limiter(self._settings))

    def limiter_of_search(self, tool: SearchTool) -> Limiter:
        """Returns the limiter for the tool's server in the running event loop. It is removed together with the tool."""
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
        """Stops sending requests in the running event loop and waits for requests in progress."""
        self._is_drained = True
        # Runs concurrently, so that all limiters stop sending before any of them waits.
        await asyncio.gather(*(limiter.drain() for limiter in self._here.values()))

    def share(self, n_processes: int) -> None:
        """From now on, divides `requests_per_second` evenly among this many processes, including this one.

        A rate learnt from a server is not divided, because if the total rate is too high, the server rejects requests
        from all processes.
        """
        self._n_processes = n_processes
        for here in self._limiters.values():
            for limiter in here.values():
                limiter.share_ceiling(n_processes)


def new_limiter(settings: RunSettings) -> Limiter:
    """Builds a limiter from the settings. Does not delay requests that are waiting for a batch."""
    if settings.batch:
        return Limiter()
    return Limiter(concurrency=settings.concurrency or None, requests_per_second=settings.requests_per_second)


def address_of(chat: ChatModel) -> str:
    """Returns the URL of the model's server, or the name of the model if there is no URL."""
    return chat.identity.get("base_url") or chat.name
