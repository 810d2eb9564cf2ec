"""Says why a server could not be reached, from the chain of errors that clients wrap round the system's own."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit


def unreachable_words(error: BaseException, url: str = "") -> str | None:
    """ "connection refused at 127.0.0.1:8080", or that there is no such host; None for any other failure.

    `url` was asked first, and is needed where the client's errors do not say what was asked.
    """
    asked = [url] if url else []
    for seen in chain(error):
        asked += [there] if (there := asked_url(seen)) else []
        if isinstance(seen, socket.gaierror):
            host = urlsplit(asked[-1]).hostname if asked else None
            return f"there is no host {host or 'of this name'}, or no way to look it up{_led(asked)}"
        if isinstance(seen, OSError) and seen.errno == errno.ECONNREFUSED:
            return f"connection refused{f' at {place_of(asked[-1])}' if asked else ''}{_led(asked)}"
    return None


def place_of(url: str) -> str:
    """Its host, with the port where it names one."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""


def asked_url(error: BaseException) -> str:
    """The URL that was asked when the error came; empty where it does not say."""
    try:
        return str(getattr(getattr(error, "request", None), "url", None) or "")
    except RuntimeError:  # of httpx, where the request is not set
        return ""


def _led(asked: Sequence[str]) -> str:
    """Who redirects to the last address, where that is of another place than the first."""
    is_led = bool(asked) and place_of(asked[0]) != place_of(asked[-1])
    return f"; {place_of(asked[0])} redirects there" if is_led else ""


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, no error twice."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__
