"""Protects a server from slow callers, endless requests and too many connections."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, MutableMapping
from typing import Any

from factloop.core.extras import has_packages, missing

if not has_packages("starlette", "uvicorn"):
    raise missing("serve", "a server")

import h11
from starlette.types import Message, Receive
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_WITHIN_S = 10.0
BODY_WITHIN_S = 20.0
LONGEST_HEADERS = 32_768  # bytes, for headers that arrive in pieces; others may be longer (up to 256 kB)
TOLD_SO = 100  # number of connections above the limit that get a 503 response; all others are dropped
ADMITTED = "factloop.admitted"  # set in the scope of a request once its caller may have a connection
_LEFT_FREE = 300  # number of open files that the process needs in addition to its connections
_PIECE = 16_384  # number of bytes to parse between two checks
MOST_VALUES = 120_000  # maximum number of values in a JSON body: 1,000 documents with all metadata contain 106,000
_NO_MARKS = bytes(set(range(256)) - set(b'"[{,'))
_SMALL_CHUNK = 32  # if the average chunk is smaller, in bytes, the body is too expensive to parse


class BodyTooLong(Exception):
    """The request body exceeds the limit on bytes or values."""


class CallerLeft(Exception):
    """The caller disconnected before the request was complete."""


def most_connections(wanted: int) -> int:
    """Returns `wanted`, or fewer if the process cannot open that many files."""
    try:
        import resource
    except ImportError:  # not on Windows
        return wanted
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if allowed == resource.RLIM_INFINITY else max(1, min(wanted, allowed - _LEFT_FREE - TOLD_SO))


def patient_protocol(most: int, header_timeout_s: float = HEADERS_WITHIN_S) -> type[asyncio.Protocol]:
    """A uvicorn HTTP protocol that drops surplus connections, and those with late headers or tiny chunks.

    If there are too many connections, each new one takes the place of the oldest one that has no admitted request
    (`ADMITTED`) in progress, so that callers without a key cannot keep others out.
    """
    arrived: dict[Protocol, None] = {}  # in order of arrival

    class Protocol(H11Protocol):
        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's signature
            super().connection_made(transport)
            strangers = (one for one in arrived if not one._is_admitted())
            if len(self.connections) >= most and (first := next(strangers, None)) is not None:
                del arrived[first]  # its connection is lost only in the next step of the event loop
                first.transport.abort()
            if len(self.connections) > most + TOLD_SO:
                transport.abort()
            else:
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


async def received(receive: Receive, most: int, within_s: float, most_values: int = MOST_VALUES) -> bytes:
    """`most` is in bytes. Raises BodyTooLong, CallerLeft, and TimeoutError after `within_s` seconds."""
    parts, size = [], 0
    async with asyncio.timeout(within_s):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise CallerLeft
            part = message.get("body", b"")
            size += len(part)
            if size > most:
                raise BodyTooLong
            parts.append(part)
            if not message.get("more_body", False):
                break
    body = b"".join(parts)
    parts.clear()
    if _has_more_values(body, most_values):
        body = b""  # the traceback would keep it in memory
        raise BodyTooLong
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
