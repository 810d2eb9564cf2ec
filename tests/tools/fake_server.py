from __future__ import annotations

import gc
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest


@dataclass(frozen=True)
class Reply:
    """`content_length` overrides the true one. With `drip_s`, the head or the body is sent one byte at a time.

    A surrogate in a header such as \\udcff stands for the byte 0xff.
    """

    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    content_length: int | None = None
    drip_s: float = 0.0
    drip_head: bool = False


@dataclass(frozen=True)
class ReceivedRequest:
    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    payload: Any


@dataclass
class FakeServer:
    """Gives its replies in turn, the last one forever, and records requests.

    `respond` may return a reply, or None to use the list. HEAD requests are refused unless `hello` answers them.
    """

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    respond: Callable[[ReceivedRequest], Reply | None] | None = None
    hello: Reply | None = None
    received: list[ReceivedRequest] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)

    def will(self, *replies: Reply) -> None:
        self.replies = list(replies)

    def will_answer(self, *values: object) -> None:
        self.will(*(Reply(body=json.dumps(value).encode()) for value in values))

    def next_reply(self, received: ReceivedRequest) -> Reply:
        with self.lock:
            self.received.append(received)
        if self.respond is not None and (reply := self.respond(received)) is not None:
            return reply
        with self.lock:
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


class _LoopbackServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    fake: FakeServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that close before reading everything, as after the head of a redirect."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are sent apart, and the second would wait 40 ms

    def do_HEAD(self) -> None:
        hello = cast(_LoopbackServer, self.server).fake.hello
        if hello is None:
            self.send_error(501)
        else:
            self.wfile.write(_head(hello))

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Type"] == "application/x-www-form-urlencoded":
            self._answer({name: values[0] for name, values in parse_qs(body.decode(), keep_blank_values=True).items()})
        else:
            self._answer(json.loads(body))

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self, payload: Any) -> None:
        fake = cast(_LoopbackServer, self.server).fake
        parts = urlsplit(self.path)
        params = {name: values[0] for name, values in parse_qs(parts.query).items()}
        reply = fake.next_reply(ReceivedRequest(self.command, parts.path, params, dict(self.headers.items()), payload))
        try:
            self._send(_head(reply), reply.drip_s if reply.drip_head else 0.0)
            self._send(reply.body, reply.drip_s)
        except OSError:  # the client has had enough
            pass
        if reply.content_length not in (None, len(reply.body)):
            self.close_connection = True

    def _send(self, data: bytes, drip_s: float) -> None:
        if not drip_s:
            self.wfile.write(data)
            return
        for place in range(len(data)):
            if cast(_LoopbackServer, self.server).fake.closing.is_set():
                return
            self.wfile.write(data[place : place + 1])
            time.sleep(drip_s)


def _head(reply: Reply) -> bytes:
    length = len(reply.body) if reply.content_length is None else reply.content_length
    lines = [f"HTTP/1.1 {reply.status} Told", *(f"{name}: {value}" for name, value in reply.headers)]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode("utf-8", "surrogateescape")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as fake:
        yield fake


@contextmanager
def serving() -> Iterator[FakeServer]:
    fake = FakeServer(replies=[Reply()])
    loopback = _LoopbackServer(("127.0.0.1", 0), _Handler)
    loopback.fake = fake
    fake.url = f"http://127.0.0.1:{loopback.server_address[1]}"
    thread = threading.Thread(target=loopback.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.closing.set()
        loopback.shutdown()
        loopback.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def no_collection_in_deep_recursion() -> Iterator[None]:
    """Some tests nest until Python refuses. A finalizer that runs then fails, and pytest reports that."""
    gc.disable()
    yield
    gc.enable()
