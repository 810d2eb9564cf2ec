"""Says why a server could not be reached, from the chain of errors that clients wrap round the system's own."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit


def unreachable_words(error: BaseException, url: str) -> str | None:
    """ "connection refused at 127.0.0.1:8080", or that there is no such host; None for any other failure."""
    parts = urlsplit(url)
    place = f" at {parts.hostname}:{parts.port}" if parts.port else f" at {parts.hostname}" if parts.hostname else ""
    for seen in _chain(error):
        if isinstance(seen, socket.gaierror):
            return f"there is no host {parts.hostname or 'of this name'}, or no way to look it up"
        if isinstance(seen, OSError) and seen.errno == errno.ECONNREFUSED:
            return f"connection refused{place}"
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, no error twice."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__
