"""PostgreSQL servers that stop responding: immediately, at the first statement, or when told."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_NO_ENCRYPTION = b"N"
_ASKS_FOR_ENCRYPTION = (80877103, 80877104)
CHUNK_BYTES = 65_536


def says_nothing(_client: socket.socket) -> None:
    """Accepts a connection and never responds."""


def greets(client: socket.socket) -> None:
    """Accepts every login and responds to no statement."""
    with client.makefile("rb") as asked:
        while True:
            (length,) = struct.unpack("!i", asked.read(4))
            body = asked.read(length - 4)
            if struct.unpack("!i", body[:4])[0] not in _ASKS_FOR_ENCRYPTION:
                break
            client.sendall(_NO_ENCRYPTION)
    client.sendall(
        _message(b"R", struct.pack("!i", 0))
        + _message(b"S", b"server_version\0" + b"15.0\0")
        + _message(b"S", b"client_encoding\0UTF8\0")
        + _message(b"S", b"standard_conforming_strings\0on\0")
        + _message(b"K", struct.pack("!ii", 1, 2))
        + _message(b"Z", b"I")
    )


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


@dataclass
class Relay:
    """Forwards traffic between a service and a server until told to be silent."""

    host: str
    port: int
    speaking: threading.Event = field(default_factory=threading.Event)

    def __call__(self, client: socket.socket) -> None:
        with socket.create_connection((self.host, self.port)) as server:
            asking = threading.Thread(target=self._pass_on, args=(client, server), daemon=True)
            asking.start()
            self._pass_on(server, client)
            asking.join()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK_BYTES):
                self.speaking.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


@contextmanager
def listening(at_each: Callable[[socket.socket], None]) -> Iterator[str]:
    """Yields an address; each connection to it is given to `at_each` and stays open."""
    clients: list[tuple[socket.socket, threading.Thread]] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                serving = threading.Thread(target=at_each, args=(client,), daemon=True)
                clients.append((client, serving))
                serving.start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"postgresql+psycopg://me:secret-word@127.0.0.1:{listener.getsockname()[1]}/jobs"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for client, serving in clients:
                with suppress(OSError):  # it has left
                    client.shutdown(socket.SHUT_RDWR)
                serving.join()
                client.close()


@contextmanager
def between(url: str) -> Iterator[tuple[str, Relay]]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    relay = Relay(parts.hostname, parts.port)
    relay.speaking.set()
    with listening(relay) as address:
        yield parts._replace(netloc=f"{parts.username}@{urlsplit(address).netloc.split('@')[1]}").geturl(), relay
        relay.speaking.set()
