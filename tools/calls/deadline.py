"""A transport for `requests` whose reads end at one fixed moment, however slowly the server drips.

The `timeout` of `requests` bounds each single read: a server that sends one byte a second, in its headers or its body,
holds the caller for ever. Here every read gets only the time that is left.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

_read_until: ContextVar[float | None] = ContextVar("read_until", default=None)


@contextmanager
def reading_until(deadline: float) -> Iterator[None]:
    """Bound all reads of requests begun in this block by `deadline`, a value of `time.monotonic()`."""
    token = _read_until.set(deadline)
    try:
        yield
    finally:
        _read_until.reset(token)


class _DeadlineReader(io.RawIOBase):
    """Reads from a socket, each time within the remaining time. Raises TimeoutError when that is used up."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: float) -> None:
        self._raw, self._sock, self._deadline = raw, sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left_s)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _DeadlineResponse(http.client.HTTPResponse):
    def __init__(
        self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
    ) -> None:
        super().__init__(sock, debuglevel, method, url)
        deadline = _read_until.get()
        if deadline is not None:
            self.fp = io.BufferedReader(_DeadlineReader(self.fp.detach(), sock, deadline))


class _Connection(HTTPConnection):
    response_class = _DeadlineResponse


class _SecureConnection(HTTPSConnection):
    response_class = _DeadlineResponse


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class DeadlineAdapter(HTTPAdapter):
    """Mount it on a `requests.Session`; then send inside `reading_until`."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        return manager
