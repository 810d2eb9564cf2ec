from __future__ import annotations

import errno
import socket

import pytest

from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.tools.calls.blame import raise_blamed, unreachable_words
from factloop.tools.calls.urls import checked_base_url, is_nearby


def error(status: int | None, *, retryable: bool = False) -> ToolError:
    made = ToolError("serper: no", tool="serper", status=status, retryable=retryable)
    made.__cause__ = OSError("the cause")
    return made


@pytest.mark.parametrize(
    "given",
    [error(500, retryable=True), error(429, retryable=True), error(400), ToolTimeout(tool="serper", timeout_s=1.0)],
)
def test_a_passing_failure_is_never_the_set_up(given: ToolError) -> None:
    with pytest.raises(ToolError) as caught:
        raise_blamed(given, answered=False)
    assert caught.value is given


def wrapped(error: BaseException) -> Exception:
    """Wraps a system error as clients do: as the cause of their error, itself the context of another."""
    try:
        try:
            raise ValueError("no connection") from error
        except ValueError:
            raise KeyError("timed out")  # noqa: B904 - as a client would, without a cause
    except KeyError as outer:
        return outer


REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "refused")
UNKNOWN = socket.gaierror(-2, "unknown")


@pytest.mark.parametrize(
    ("error", "url", "said"),
    [
        (REFUSED, "http://127.0.0.1:8080/v1", "connection refused at 127.0.0.1:8080"),
        (REFUSED, "https://host.test/v1", "connection refused at host.test"),
        (REFUSED, "", "connection refused"),
        (UNKNOWN, "http://nowhere.test", "the host nowhere.test does not exist or cannot be resolved"),
        (OSError(errno.EPIPE, "broken"), "http://host.test", None),
        (TimeoutError(), "http://host.test", None),
    ],
)
def test_the_reason_is_found_in_the_chain(error: Exception, url: str, said: str | None) -> None:
    assert unreachable_words(error, url) == said
    assert unreachable_words(wrapped(error), url) == said


NO_ADDRESSES = ["", "localhost:8080", "ftp://host", "http://", "http://[::1", "http://host:99999", "http://two words"]


@pytest.mark.parametrize("url", [*NO_ADDRESSES, "http://host:x", "//x", "http://host\n"])
def test_an_address_that_cannot_be_asked_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="THE_VARIABLE"):
        checked_base_url(url, "THE_VARIABLE")


NEARBY = ["http://127.0.0.1:8000/v1", "http://localhost:11434", "http://[::1]:8080/v1", "https://192.168.1.7/v1"]
NEARBY += ["http://vllm:8000/v1", "http://gpu.local/v1"]
FAR = ["https://api.openai.com/v1", "https://8.8.8.8/v1", "https://localhost.example.org/v1", "http://[::1", ""]


@pytest.mark.parametrize(("url", "nearby"), [*((url, True) for url in NEARBY), *((url, False) for url in FAR)])
def test_whether_a_server_is_nearby(url: str, nearby: bool) -> None:
    assert is_nearby(url) is nearby
