"""The address that a server listens on and the API keys that it accepts."""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from factloop.core.errors import ConfigError
from factloop.entrance.keys import ApiKeys

READ_WITHIN_MS = 60_000  # a connection is closed if its caller reads nothing for this long


@dataclass(frozen=True, kw_only=True)
class Binding:
    """Raises ConfigError if other machines can reach the address and there are no keys."""

    host: str = "127.0.0.1"
    port: int = 8000
    """0 means any free port."""
    keys: ApiKeys = field(default_factory=ApiKeys)

    def __post_init__(self) -> None:
        if not self.is_loopback and not self.keys:
            raise ConfigError(
                f"--host {self.host} needs an API key, since other machines can reach it: set --api-key-file or "
                "FACTLOOP_SERVICE_KEYS"
            )
        if not 0 <= self.port <= 65535:
            raise ConfigError(f"--port {self.port}: must be between 0 and 65535")

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @contextmanager
    def listening(self) -> Iterator[socket.socket]:
        """Yields the listening socket and closes it on exit. Raises ConfigError if the address cannot be used."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            taken = socket.create_server((self.host, self.port), family=family, backlog=2048)
            taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else, a body would wait 40 ms for its headers
            if sys.platform == "linux":  # otherwise, callers who stop reading could keep connections and memory forever
                taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, READ_WITHIN_MS)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            said = f"cannot listen on host {self.host}, port {self.port} ({reason}); choose another --host or --port"
            raise ConfigError(said) from error
        with taken:
            yield taken


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{in_brackets(host)}:{port}"


def in_brackets(host: str) -> str:
    return f"[{host}]" if ":" in host else host
