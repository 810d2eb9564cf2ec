"""Middleware that checks every request's caller, host, rate and size. Keys are checked before the body is read."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from factloop.entrance.callers import LARGE, MOST_VALUES, OpenRequests, RequestError, received, replayed, too_long
from factloop.entrance.keys import key_refusal
from factloop.service.access import opens
from factloop.service.errors import RETRY_AFTER_S, RequestRefusal
from factloop.service.pages import EXPIRED
from factloop.service.routes import ServiceContext

NO_JOB = frozenset({"/v1/tickets", "/v1/documents"})  # POST requests that count as reads, because they create no jobs
PROBES = frozenset({"/health", "/ready", "/metrics"})  # logged only at the lowest level, because they are frequent
TAKES_LITTLE = frozenset({"/v1/tickets"})  # at most `LARGE` bytes, like PUT
MOST_IN_AUDIT = 1_000_000  # maximum number of JSON values in an audit, which may have 100,000 rows
LONGEST_PATH = 200
READING = frozenset({"GET", "HEAD"})
MOST_WHERE_NONE_IS_READ = 1_000  # bytes, for routes that ignore the body; some clients send one with every request
MOST_DISCARDED = 64_000_000  # maximum number of bytes that are read and discarded after a rejection
DISCARDED_WITHIN_S = 5.0
BETWEEN_BODIES_S = 0.01  # seconds between parsing two bodies of more than `LARGE` bytes
SENT_AT_ONCE = 65_536  # bytes of a response
SENT_WITHIN_S = 60.0  # seconds within which each part of a response must be sent
REQUEST_ID = re.compile(r"[A-Za-z0-9._:+/=@-]{1,128}", re.ASCII)  # matches an `X-Request-ID` that is used unchanged
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
KEPT_FROM_BROWSERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}

log = logging.getLogger(__name__)


class ServiceGuard:
    """Sets `scope["request_id"]`, and `scope["owner"]` for the routes under /v1/."""

    def __init__(self, app: ASGIApp, context: ServiceContext) -> None:
        self._app, self._settings, self._metrics = app, context.settings, context.metrics
        self._rates, self._tickets = context.rates, context.tickets
        self._max_body = int(self._settings.max_body_mb * 1_000_000)
        self._open = OpenRequests(self._settings.keys, self._max_body)
        self._before_parsing = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        arriving = _RequestBody(receive, waits="expect" in Headers(scope=scope))
        request_id = scope["request_id"] = _request_id(Headers(scope=scope))
        answer, begun = _AnswerSender(send, arriving, request_id), time.perf_counter()
        try:
            await self._serve(scope, arriving, answer)
        except RequestRefusal as refused:
            await answer.refuse(refused)
        except RequestError as error:
            headers = {"Retry-After": str(RETRY_AFTER_S)} if error.status == 429 else None
            await answer.refuse(RequestRefusal(error.status, error.type, str(error), headers=headers))
        except Exception:  # a bug, which is logged but not revealed in the response
            log.exception("%s %s failed (request %s)", scope["method"], _template(scope), request_id)
            await answer.refuse(RequestRefusal(500, "internal", "the request failed unexpectedly"))
        finally:
            self._metrics.request(_template(scope), answer.status)
            self._log(scope, request_id, answer.status, time.perf_counter() - begun)

    def _log(self, scope: Scope, request_id: str, status: int, seconds: float) -> None:
        """Leaves out the query, because it may contain a ticket."""
        address, path = (scope.get("client") or ("-",))[0], scope["raw_path"].decode("latin-1")[:LONGEST_PATH]
        told = {"method": scope["method"], "path": path, "status": status, "seconds": round(seconds, 3)}
        told |= {"request_id": request_id, "address": address}
        who, level = f"from {address}", logging.DEBUG if path in PROBES else logging.INFO
        if "owner" in scope and (key := self._settings.keys.names[scope["owner"]]):
            who, told["key"] = f"key {key}", key
        elif "wrong_key" in scope:
            who, told["wrong_key"], level = f"wrong key from {address}", True, logging.WARNING
        if job := scope.get("job"):
            who, told["job"] = f"{who}, job {job}", job
        said = "%s %s: %d (request %s, %s, %.3f s)"
        log.log(level, said, scope["method"], path, status, request_id, who, seconds, extra={"request": told})

    async def _serve(self, scope: Scope, receive: Receive, answer: _AnswerSender) -> None:
        headers = Headers(scope=scope)
        self._refuse_strange_host(headers)
        if scope["method"] not in READING:
            self._refuse_other_site(headers)
        if scope["path"].startswith(f"{self._settings.public_path}/"):  # if the proxy does not strip the prefix
            scope["path"] = scope["path"].removeprefix(self._settings.public_path)
            scope["raw_path"] = quote(scope["path"]).encode()  # logged as received
        if scope["path"].startswith("/v1/"):
            address = (scope.get("client") or ("-",))[0]
            owner = self._settings.keys.owner(headers.get("authorization"))
            if owner is None and scope["method"] in READING:
                owner = self._tickets.owner(scope["path"], scope["query_string"])
            if owner is None:
                raise await self._without_owner(scope, headers, address)
            scope["owner"] = owner
            await self._rates.take(
                "jobs" if _asks_for_work(scope) and scope["path"] not in NO_JOB else "reads", owner or address
            )
        owner = scope.get("owner")
        admitted = nullcontext(int) if owner is None else self._open.admit(scope, owner)  # probes have no owner
        with admitted as hold:
            body = await self._body(scope, headers, receive, hold)
            if len(body) > LARGE:
                async with self._before_parsing:  # others are served between two large bodies
                    await asyncio.sleep(BETWEEN_BODIES_S)
            await self._app(scope, replayed(body, receive), answer)

    async def _without_owner(self, scope: Scope, headers: Headers, address: str) -> RequestRefusal:
        """A missing key does not count as wrong: pages then ask for one."""
        if given := headers.get("authorization"):
            scope["wrong_key"] = True
            self._metrics.wrong_keys.inc()
            await self._rates.take_wrong_key(address, given)
        page = EXPIRED if opens(scope["path"]) and "text/html" in headers.get("accept", "") else None
        challenge = {"WWW-Authenticate": "Bearer"}
        return RequestRefusal(401, "unauthorized", key_refusal(given), headers=challenge, page=page)

    def _refuse_strange_host(self, headers: Headers) -> None:
        """Other sites could otherwise reach this service through their own DNS names."""
        if not self._settings.binding.is_loopback:
            return
        host = headers.get("host", "")
        name, _, port = host.rpartition(":")
        name = name if port.isdigit() and not host.endswith("]") else host
        ours = LOCAL_NAMES | {self._settings.host, self._settings.public_host}
        if not name or name.lower() not in ours:
            raise RequestRefusal(400, "wrong_host", "this service accepts requests only at its own address")

    def _refuse_other_site(self, headers: Headers) -> None:
        """Pages on other sites could otherwise make changes on behalf of the user."""
        origin = headers.get("origin")
        if origin is None or origin == self._settings.public_origin:
            return
        with suppress(ValueError):
            if urlsplit(origin).netloc == headers.get("host", "") != "":
                return
        raise RequestRefusal(403, "wrong_origin", "pages on other sites cannot send requests to this service")

    async def _body(self, scope: Scope, headers: Headers, receive: Receive, hold: Callable[[int], object]) -> bytes:
        if _asks_for_work(scope):
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise RequestRefusal(415, "wrong_content_type", "the body must be JSON (application/json)")
        length = headers.get("content-length")
        if length is not None and "transfer-encoding" in headers:  # a proxy might read a different body
            raise RequestError(400, "bad_request", "Content-Length and Transfer-Encoding cannot be combined")
        if length is not None and (not length.isascii() or not length.isdigit()):
            raise RequestError(400, "bad_request", "Content-Length must be a number")
        is_read = (_asks_for_work(scope) or scope["method"] == "PUT") and scope["path"].startswith("/v1/")
        most = self._max_body if is_read else MOST_WHERE_NONE_IS_READ
        if is_read and (scope["method"] == "PUT" or scope["path"] in TAKES_LITTLE):
            most = min(most, LARGE)
        values = MOST_IN_AUDIT if scope["path"] == "/v1/audits" else MOST_VALUES
        if length is not None and (len(length) > 15 or int(length) > most):
            raise too_long(most, values)
        return await received(receive, hold, most, self._settings.body_timeout_s, values)


class _RequestBody:
    """A caller that `waits` sends its body only after a "100 Continue" response, sent on the first read."""

    def __init__(self, receive: Receive, *, waits: bool) -> None:
        self._receive, self._is_whole = receive, waits

    async def __call__(self) -> Message:
        message = await self._receive()
        self._is_whole = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message

    async def discard(self) -> None:
        """Reads a little more, because callers that are cut off while sending never see the response."""
        size = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCARDED_WITHIN_S):
                while not self._is_whole and size < MOST_DISCARDED:
                    size += len((await self()).get("body", b""))


class _AnswerSender:
    """Adds the common headers and records whether the response has started."""

    def __init__(self, send: Send, arriving: _RequestBody, request_id: str) -> None:
        self._send, self._arriving, self._request_id = send, arriving, request_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self._request_id
            for name, value in KEPT_FROM_BROWSERS.items():
                headers.setdefault(name, value)
        body, more = message.get("body", b""), message.get("more_body", False)
        if len(body) <= SENT_AT_ONCE:
            await self._within(message)
            return
        for start in range(0, len(body), SENT_AT_ONCE):  # the server would accept the whole body without waiting
            end = start + SENT_AT_ONCE
            await self._within({**message, "body": body[start:end], "more_body": more or end < len(body)})

    async def _within(self, message: Message) -> None:
        try:
            async with asyncio.timeout(SENT_WITHIN_S):
                await self._send(message)
        except TimeoutError as error:
            raise RequestError(408, "too_slow", "the response was not read in time") from error

    async def refuse(self, refused: RequestRefusal) -> None:
        """Also closes the connection, so that a caller cannot fill the log with one."""
        if self.status:  # too late for a status: the server closes the connection instead
            return
        body, media_type = refused.body(self._request_id)
        given = {"content-type": media_type, "content-length": str(len(body)), "connection": "close"}
        headers = [(name.encode(), value.encode()) for name, value in (given | refused.headers).items()]
        with suppress(RequestError):  # the caller reads nothing
            await self({"type": "http.response.start", "status": refused.status, "headers": headers})
            await self({"type": "http.response.body", "body": body, "more_body": True})
            await self._arriving.discard()
            await self({"type": "http.response.body", "body": b""})


def _asks_for_work(scope: Scope) -> bool:
    """Whether a request counts towards the limit on work. Cancelling and deleting do not."""
    return scope["method"] == "POST" and not scope["path"].endswith("/cancel")


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if REQUEST_ID.fullmatch(given) else secrets.token_hex(16)


def _template(scope: Scope) -> str:
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "none"
