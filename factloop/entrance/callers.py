"""Protects a server from slow callers, endless requests and too many connections."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

from factloop.core.extras import has_packages, missing

if not has_packages("starlette", "uvicorn"):
    raise missing("serve", "a server")

import h11
import uvicorn
from starlette.types import Message, Receive, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from factloop.entrance.keys import ApiKeys

HEADERS_WITHIN_S = 10.0
BODY_WITHIN_S = 20.0
LONGEST_HEADERS = 32_768  # bytes, for headers that arrive in pieces; others may be longer (up to 256 kB)
TOLD_SO = 100  # number of connections above the limit that get a 503 response; all others are dropped
MOST_CONNECTIONS = 1_000  # maximum number of connections; further ones get status 503
MOST_OPEN = 64
"""Concurrent requests per key if there are several keys, including event streams and requests that wait for a report. A
single key, or all callers of a service without keys, may use half of the connections."""
MOST_HELD = 100_000_000  # bytes of one owner's requests in progress; each byte takes up to four bytes of memory
LARGE = 100_000  # bytes; smaller bodies are received even if the owner's requests in progress exceed `MOST_HELD`
MOST_KEPT = 10  # idle connections per key that give way only after those of callers without a key
ADMITTED = "factloop.admitted"  # scope key for the owner of an admitted request
_LEFT_FREE = 300  # number of open files that the process needs in addition to its connections
_PIECE = 16_384  # number of bytes to parse between two checks
MOST_VALUES = 120_000  # maximum number of values in a JSON body: 1,000 documents with all metadata contain 106,000
_NO_MARKS = bytes(set(range(256)) - set(b'"[{,'))
_SMALL_CHUNK = 32  # if the average chunk is smaller, in bytes, the body is too expensive to parse


class RequestError(Exception):
    """A request that cannot be served. `type` is the type of error in the service's responses."""

    def __init__(self, status: int, type: str, message: str) -> None:
        super().__init__(message)
        self.status, self.type = status, type


def too_long(most: int, most_values: int) -> RequestError:
    return RequestError(413, "too_large", f"the request exceeds {most:,} bytes or {most_values:,} values")


def most_connections() -> int:
    """Returns `MOST_CONNECTIONS`, or fewer if the process cannot open that many files. Raises its own limit first."""
    try:
        import resource
    except ImportError:  # not on Windows
        return MOST_CONNECTIONS
    wanted = MOST_CONNECTIONS + TOLD_SO + _LEFT_FREE
    allowed, most_allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY or allowed >= wanted:
        return MOST_CONNECTIONS
    allowed = wanted if most_allowed == resource.RLIM_INFINITY else min(wanted, most_allowed)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most_allowed))
    return max(2, allowed - TOLD_SO - _LEFT_FREE)


class OpenRequests:
    """Limits each owner's concurrent requests, so that none takes all connections or all memory."""

    def __init__(self, keys: ApiKeys, most_body: int) -> None:
        self._keys, self._half, self._most_held = keys, most_connections() // 2, max(MOST_HELD, most_body)
        self._n_open, self._n_held = Counter[str](), Counter[str]()

    @contextmanager
    def admit(self, scope: Scope, owner: str) -> Iterator[Callable[[int], None]]:
        """Counts a request while it is open, and yields a function that counts arriving bytes. Raises RequestError."""
        most = min(MOST_OPEN, self._half) if len(self._keys.grants) > 1 else self._half
        if self._n_open[owner] >= most:
            said = f"too many concurrent requests: the limit is {most}, including event streams and waiting requests"
            raise RequestError(429, "too_many_requests", said)
        n_held = 0

        def hold(n_bytes: int) -> None:
            nonlocal n_held
            n_held, self._n_held[owner] = n_held + n_bytes, self._n_held[owner] + n_bytes
            if n_held > LARGE and self._n_held[owner] > self._most_held:
                said = f"your requests in progress exceed {self._most_held / 1e6:.0f} MB; wait for their responses"
                raise RequestError(429, "too_many_requests", said)

        self._n_open[owner] += 1
        scope[ADMITTED] = owner
        try:
            yield hold
        finally:
            self._n_open[owner], self._n_held[owner] = self._n_open[owner] - 1, self._n_held[owner] - n_held
            del scope[ADMITTED]


def server_config(app: Any, header_timeout_s: float = HEADERS_WITHIN_S, **options: Any) -> uvicorn.Config:
    """Returns a configuration with `options` and with those that protect a server."""
    most = most_connections()
    return uvicorn.Config(
        app,
        http=patient_protocol(most, header_timeout_s),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=2 * most,  # requests, which end a little later than their connections
        h11_max_incomplete_event_size=LONGEST_HEADERS,
        **options,
    )


def patient_protocol(most: int, header_timeout_s: float = HEADERS_WITHIN_S) -> type[asyncio.Protocol]:
    """A uvicorn HTTP protocol that drops surplus connections, and those with late headers or tiny chunks.

    If there are too many connections, each new one takes the place of another one that has no admitted request
    (`ADMITTED`) in progress, so that callers without a key cannot keep others out. Each owner's `MOST_KEPT` most
    recently answered connections give way last.
    """
    arrived: dict[Protocol, object] = {}  # by arrival or last answer; the values are the owners of connections to keep

    class Protocol(H11Protocol):
        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's signature
            super().connection_made(transport)
            strangers = (one for one, owner in arrived.items() if owner is None)
            idle = (one for one in chain(strangers, arrived) if not one._is_admitted())
            if len(self.connections) >= most and (first := next(idle, None)) is not None:
                del arrived[first]
                self.connections.discard(first)  # it is lost only in the next step of the event loop
                first.transport.abort()
            if len(self.connections) > most + TOLD_SO:
                transport.abort()
            else:
                if len(self.connections) >= most:
                    self.limit_concurrency = 0  # a 503 response
                arrived[self] = None
                self._wait()

        def data_received(self, data: bytes) -> None:
            for start in range(0, len(data), _PIECE):
                if _is_crumbs(piece := data[start : start + _PIECE], self.headers or ()):
                    self.transport.abort()
                if self.transport.is_closing():
                    break
                super().data_received(piece)
            if self.conn.their_state is h11.IDLE:  # the headers are incomplete
                self._wait()
            else:
                self._wait_no_more()

        def send_400_response(self, msg: str) -> None:
            try:
                super().send_400_response(msg)
            except h11.LocalProtocolError:  # the request has already been answered
                self.transport.close()

        def on_response_complete(self) -> None:
            if (owner := self.scope.get(ADMITTED)) is not None:
                arrived.pop(self, None)
                arrived[self] = owner
                theirs = [one for one, whose in arrived.items() if whose == owner]
                arrived.update(dict.fromkeys(theirs[:-MOST_KEPT]))
            super().on_response_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            arrived.pop(self, None)
            self._wait_no_more()
            super().connection_lost(exc)

        def _is_admitted(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete and ADMITTED in self.scope

        def _wait(self) -> None:
            if self._patience is None:
                self._patience = self.loop.call_later(header_timeout_s, self.transport.close)

        def _wait_no_more(self) -> None:
            if self._patience is not None:
                self._patience.cancel()
                self._patience = None

    return Protocol


def _is_crumbs(data: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Each chunk of the body contains two newlines."""
    n_chunks = data.count(b"\r\n") // 2
    return n_chunks * _SMALL_CHUNK > max(len(data), _PIECE // 4) and any(
        name == b"transfer-encoding" for name, _ in headers
    )


async def received(
    receive: Receive, hold: Callable[[int], object], most: int, within_s: float, most_values: int = MOST_VALUES
) -> bytes:
    """`most` is in bytes. Raises RequestError if the body is too long, incomplete or later than `within_s` seconds."""
    parts, size = [], 0
    try:
        async with asyncio.timeout(within_s):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestError(400, "bad_request", "the request ended early")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                hold(len(parts[-1]))
                if size > most or not message.get("more_body", False):
                    break
        body = b"".join(parts)
    except TimeoutError as error:
        raise RequestError(408, "too_slow", "the request was not received in time") from error
    finally:
        parts.clear()  # an error's traceback would keep them in memory
    if size > most or _has_more_values(body, most_values):
        body = b""  # the traceback would keep it in memory
        raise too_long(most, most_values)
    return body


def _has_more_values(body: bytes, most: int) -> bool:
    """Counts values without parsing the body, which would be far more expensive."""
    marks = body.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NO_MARKS).replace(b'""', b"")
    if b"\0" in body:  # not UTF-8, so the ends of strings are uncertain
        return len(marks) > most
    return marks.count(b'"') > 4 * most or len(b"".join(marks.split(b'"')[::2])) > most


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that first returns the body as one message, and then the server's later messages."""
    waiting: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
