from __future__ import annotations

import errno
import socket

import pytest

from factloop.tools.calls.blame import unreachable_words


def wrapped(error: BaseException) -> Exception:
    """As clients do: the system's error as the cause of one of theirs, that as the context of another."""
    try:
        try:
            raise ValueError("no connection") from error
        except ValueError:
            raise KeyError("timed out")  # noqa: B904 - as a client would, without a cause
    except KeyError as outer:
        return outer


REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "refused")


@pytest.mark.parametrize(
    ("error", "url", "said"),
    [
        (REFUSED, "http://127.0.0.1:8080/v1", "connection refused at 127.0.0.1:8080"),
        (REFUSED, "https://host.test/v1", "connection refused at host.test"),
        (REFUSED, "", "connection refused"),
        (
            socket.gaierror(-2, "unknown"),
            "http://nowhere.test",
            "there is no host nowhere.test, or no way to look it up",
        ),
        (OSError(errno.EPIPE, "broken"), "http://host.test", None),
        (TimeoutError(), "http://host.test", None),
    ],
)
def test_the_reason_is_found_in_the_chain(error: Exception, url: str, said: str | None) -> None:
    assert unreachable_words(error, url) == said
    assert unreachable_words(wrapped(error), url) == said
