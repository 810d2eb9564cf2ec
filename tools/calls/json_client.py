"""Sends and receives JSON for all tools that call web servers, and turns every failure into a `ToolError`.

Nothing is retried here. Callers decide that, based on `retryable` and `retry_after_s`.
"""

from __future__ import annotations

import http.client
import io
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.tools.calls.blame import asked_url, place_of, unreachable_words
from factloop.tools.calls.retry import retry_after_s

MAX_BODY_BYTES = 8_000_000
MAX_REDIRECTS = 3
_CHUNK_BYTES = 65_536
_EXCERPT_CHARS = 120
_RETRYABLE_STATUSES = frozenset({408, 429})


def user_agent() -> str:
    """Returns the user agent that the terms of use of public services require."""
    return f"factloop/{version('factloop')} (fact-checking library) python-requests/{version('requests')}"


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    status: int
    headers: Mapping[str, str]
    """Names are case-insensitive. Some servers report only here that an answer is incomplete."""
    value: dict[str, Any]


class _NoAddress(requests.exceptions.InvalidURL):
    """Raised if a redirect points to an invalid address or another server."""


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Returns the address and closes the response without reading its body, which may be long.

        Raises ValueError for another server, because it may be private, and its answer could end up in a report.
        """
        if resp.is_redirect:
            resp.close()
        if (target := super().get_redirect_target(resp)) is not None:
            asked, other = urlsplit(resp.url), urlsplit(urljoin(resp.url, target))
            if other.hostname != asked.hostname or other.port not in {asked.port, None}:
                raise ValueError("on another server")
        return target

    def resolve_redirects(self, *args: Any, yield_requests: bool = False, **kwargs: Any) -> Iterator[Any]:
        if yield_requests:  # `requests` calls this method even if redirects are not followed
            return
        try:
            yield from super().resolve_redirects(*args, **kwargs)
        except requests.exceptions.InvalidHeader:  # an intermediate response has the invalid header
            raise
        except ValueError as error:
            raise _NoAddress(str(error)) from error


# The `timeout` of `requests` limits each read separately, so a server that sends one byte per second could block the
# caller forever. Here, all reads together must finish by a fixed deadline.

_read_until: ContextVar[float | None] = ContextVar("read_until", default=None)


@contextmanager
def _reading_until(deadline: float) -> Iterator[None]:
    """Ends all reads in this block at `deadline`, a value of `time.monotonic()`."""
    token = _read_until.set(deadline)
    try:
        yield
    finally:
        _read_until.reset(token)


class _DeadlineReader(io.RawIOBase):
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


class _DeadlineAdapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        return manager


class JsonClient:
    """Sends requests to a server that returns JSON objects. Many threads can use it, each with its own session.

    `timeout_s` limits the whole exchange, including the body but not the DNS lookup. With `secret_headers`, which never
    appear in messages, redirects are disabled, so that no other host receives them. `headers` may contain `Accept` to
    request another kind of JSON. `hints` maps statuses to advice for users.
    """

    def __init__(
        self,
        *,
        tool: str,
        base_url: str,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        secret_headers: Mapping[str, str] | None = None,
        hints: Mapping[int, str] | None = None,
    ) -> None:
        if not timeout_s > 0:
            raise ConfigError(f"{tool}: the timeout must be more than 0 seconds, not {timeout_s:g}")
        self._tool, self._base_url, self._timeout_s = tool, base_url, timeout_s
        self._headers, self._secret_headers = dict(headers or {}), dict(secret_headers or {})
        self._hints = dict(hints or {})
        self._local = threading.local()

    def get(self, path: str, params: Mapping[str, str | int]) -> dict[str, Any]:
        """Returns the JSON object at `path`. Raises ToolError or ToolTimeout."""
        return self._exchange("GET", path, params=params).value

    def get_answer(self, path: str, params: Mapping[str, str | int]) -> JsonAnswer:
        return self._exchange("GET", path, params=params)

    def post(
        self,
        path: str,
        payload: Mapping[str, Any],
        *,
        timeout_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Posts `payload` and returns the JSON object. Raises ToolError or ToolTimeout.

        `timeout_s` can only shorten the client's timeout. `headers` are sent in addition to the client's own.
        """
        return self._exchange("POST", path, timeout_s=timeout_s, json=payload, headers=headers).value

    def post_form(self, path: str, fields: Mapping[str, str]) -> JsonAnswer:
        return self._exchange("POST", path, data=fields)

    def reach(self, *, timeout_s: float) -> None:
        """Checks that the server answers HTTP requests. Raises ToolError or ToolTimeout."""
        timeout_s = min(timeout_s, self._timeout_s)
        with (
            self._failures_by(timeout_s),
            self._session().head(self._base_url, timeout=timeout_s, stream=True, allow_redirects=False),
        ):
            return

    def _exchange(self, method: str, path: str, *, timeout_s: float | None = None, **content: Any) -> JsonAnswer:
        timeout_s = self._timeout_s if timeout_s is None else min(timeout_s, self._timeout_s)
        with (
            self._failures_by(timeout_s),
            self._session().request(
                method,
                self._base_url + path,
                timeout=timeout_s,
                stream=True,
                allow_redirects=not self._secret_headers,
                **content,
            ) as response,
        ):
            body = self._read(response)
        self._check_status(response, body)
        return JsonAnswer(response.status_code, response.headers, self._parsed(response, body))

    @contextmanager
    def _failures_by(self, timeout_s: float) -> Iterator[None]:
        deadline = time.monotonic() + timeout_s
        try:
            with _reading_until(deadline):
                yield
        except (requests.RequestException, ValueError) as error:
            raise self._translated(error, deadline, timeout_s) from error

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = _Session()
            session.max_redirects = MAX_REDIRECTS
            session.headers.update({"Accept": "application/json", **self._headers, **self._secret_headers})
            for scheme in ("http://", "https://"):
                session.mount(scheme, _DeadlineAdapter())
            self._local.session = session
        return session

    def _read(self, response: requests.Response) -> bytes:
        body, status = bytearray(), response.status_code
        try:
            for chunk in response.iter_content(_CHUNK_BYTES):
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise self._failure(f"the answer is larger than {MAX_BODY_BYTES:,} bytes", status)
        except requests.exceptions.ChunkedEncodingError as error:
            error.response = response
            raise
        return bytes(body)

    def _translated(self, error: Exception, deadline: float, timeout_s: float) -> ToolError:
        host = urlsplit(self._base_url).hostname
        if time.monotonic() >= deadline or isinstance(error, requests.Timeout):
            return ToolTimeout(tool=self._tool, timeout_s=timeout_s)
        if isinstance(error, requests.exceptions.SSLError):
            host = urlsplit(asked_url(error) or self._base_url).hostname
            return self._failure(f"cannot connect securely to {host}: the certificate or the protocol was rejected")
        if isinstance(error, requests.TooManyRedirects):
            return self._failure(f"{host} redirects more than {MAX_REDIRECTS} times")
        if isinstance(error, _NoAddress):
            return self._failure(f"{host} redirects to an invalid address or another server")
        if isinstance(error, requests.exceptions.ChunkedEncodingError):
            status = None if error.response is None else error.response.status_code
            return self._failure("the connection was closed before the answer was complete", status, retryable=True)
        if isinstance(error, requests.ConnectionError):
            unknown = f"cannot connect to {place_of(asked_url(error) or self._base_url)}"
            return self._failure(unreachable_words(error, self._base_url) or unknown, retryable=True)
        return self._failure(f"the request to {host} failed ({type(error).__name__})")

    def _check_status(self, response: requests.Response, body: bytes) -> None:
        status = response.status_code
        if 200 <= status < 300:
            return
        hint = self._hints.get(status)
        wait_s = retry_after_s(response.headers.get("Retry-After"), datetime.now(UTC))
        raise ToolError(
            f"{self._tool}: status {status}" + (f": {hint}" if hint else f", {self._excerpt(response, body)}"),
            tool=self._tool,
            status=status,
            retry_after_s=wait_s,
            retryable=status >= 500 or status in _RETRYABLE_STATUSES,
        )

    def _parsed(self, response: requests.Response, body: bytes) -> dict[str, Any]:
        status = response.status_code
        if not body.strip():
            raise self._failure("the answer is empty", status, retryable=True)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError) as error:
            begun = body.lstrip()[:1] in (b"{", b"[")  # any other text is often a proxy's temporary error page
            message = f"the answer is {'incomplete' if begun else 'not'} JSON: {self._excerpt(response, body)}"
            raise self._failure(message, status, retryable=True) from error
        if not isinstance(value, dict):
            raise self._failure(f"the answer is not a JSON object: {self._excerpt(response, body)}", status)
        return value

    def _excerpt(self, response: requests.Response, body: bytes) -> str:
        kind = response.headers.get("Content-Type", "no content type").partition(";")[0]
        text = body[: 20 * _EXCERPT_CHARS].decode("utf-8", errors="replace")
        for secret in self._secret_headers.values():
            text = text.replace(secret, "***")
        shown = "".join(char if char.isprintable() else " " for char in " ".join(text.split())[:_EXCERPT_CHARS])
        return f"{kind}, {len(body):,} bytes, {shown!r}" if shown else f"{kind}, {len(body):,} bytes"

    def _failure(self, message: str, status: int | None = None, *, retryable: bool = False) -> ToolError:
        return ToolError(f"{self._tool}: {message}", tool=self._tool, status=status, retryable=retryable)
