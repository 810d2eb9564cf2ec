"""Distinguishes a wrong setup, in which a server rejects the very first calls, from a temporary failure."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NoReturn
from urllib.parse import urlsplit

from factloop.core.errors import ConfigError, ToolError, ToolTimeout, UnreadableAnswer


def unreachable_words(error: BaseException, url: str = "") -> str | None:
    """Returns why a server is unreachable, such as "connection refused at 127.0.0.1:8080", or None for other failures.

    `url` is the requested URL, for clients whose errors do not contain it.
    """
    asked = [url] if url else []
    for seen in chain(error):
        asked += [there] if (there := asked_url(seen)) else []
        if isinstance(seen, socket.gaierror):
            host = urlsplit(asked[-1]).hostname if asked else None
            return f"the host {host or 'name'} does not exist or cannot be resolved{_led(asked)}"
        if isinstance(seen, OSError) and seen.errno == errno.ECONNREFUSED:
            return f"connection refused{f' at {place_of(asked[-1])}' if asked else ''}{_led(asked)}"
    return None


def place_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""


def asked_url(error: BaseException) -> str:
    try:
        return str(getattr(getattr(error, "request", None), "url", None) or "")
    except RuntimeError:  # raised by httpx if the request is not set
        return ""


def _led(asked: Sequence[str]) -> str:
    is_led = bool(asked) and place_of(asked[0]) != place_of(asked[-1])
    return f"; {place_of(asked[0])} redirects there" if is_led else ""


def chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__


SET_UP_WRONG = frozenset({301, 302, 303, 307, 308, 401, 403, 404})
OUT_OF_REACH = "is the server running, and is its URL correct?"
NOT_OF_ITS_KIND = "is its URL correct, and is it the right kind of server?"


class FirstAnswer:
    """Tracks whether a server has ever answered. It is bound to one event loop.

    Requests are sent in bursts, so one may be rejected before another is answered. The setup is blamed only if no
    request in progress is answered.
    """

    def __init__(self) -> None:
        self._has_come = False
        self._in_flight: set[asyncio.Future[None]] = set()

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Wraps one request, which counts as answered unless it raises an error."""
        back = asyncio.get_running_loop().create_future()
        self._in_flight.add(back)
        try:
            yield
            self._has_come = True
        finally:
            self._in_flight.remove(back)
            back.set_result(None)

    async def raise_blamed(self, error: ToolError) -> NoReturn:
        """Waits until it is clear whether the setup is at fault, then raises the error or a ConfigError."""
        may_be_set_up = is_wrong_set_up(error) or is_out_of_reach(error)
        raise_blamed(error, answered=not may_be_set_up or await self._arrives())

    async def _arrives(self) -> bool:
        waiting = set(self._in_flight)
        while waiting and not self._has_come:
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        return self._has_come


_expects_outages: ContextVar[bool] = ContextVar("factloop_expects_outages", default=False)


def expect_outages() -> None:
    """For the rest of this task, treats an unreachable server as temporarily down, even if it has never answered.

    The tasks of a running service call this function. A server that rejects our requests still raises a ConfigError.
    """
    _expects_outages.set(True)


def raise_blamed(error: ToolError, *, answered: bool) -> NoReturn:
    if answered or isinstance(error, ToolTimeout) or (_expects_outages.get() and is_out_of_reach(error)):
        raise error
    if is_wrong_set_up(error):
        raise ConfigError(f"{error}; check the API key, the base URL and, for a model, its name") from error
    if is_out_of_reach(error):
        is_there = isinstance(error, UnreadableAnswer)
        raise ConfigError(f"{error}: {NOT_OF_ITS_KIND if is_there else OUT_OF_REACH}") from error
    raise error


def is_wrong_set_up(error: ToolError) -> bool:
    """Whether the server can be reached but rejects the key or address, or reports an exhausted quota."""
    return error.status in SET_UP_WRONG or (error.status == 429 and not error.retryable)


def is_out_of_reach(error: ToolError) -> bool:
    return error.status is None and error.retryable and not (error.wants_pause or isinstance(error, ToolTimeout))
