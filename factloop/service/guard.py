"""The guard before every route: it checks the caller, the host, the rate and the size of each request.

Each refusal comes before what it saves: the key is looked at before the body is read, the body is counted while it is
read, and nothing is parsed that is too long.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from factloop.entrance.callers import BodyTooLong, CallerLeft, received, replayed
from factloop.entrance.keys import key_refusal
from factloop.service.access import opens
from factloop.service.errors import RequestRefusal
from factloop.service.pages import EXPIRED
from factloop.service.routes import ServiceContext

TICKETS = "/v1/tickets"
READING = frozenset({"GET", "HEAD"})
MOST_WHERE_NONE_IS_READ = 1_000
"""Bytes of a body that no route reads, as some clients send one with every request."""
MOST_DISCARDED = 64_000_000
"""Bytes that are read after a refusal, and thrown away."""
DISCARDED_WITHIN_S = 5.0
SENT_WITHIN_S = 60.0
"""Seconds in which one part of an answer must be sent."""
REQUEST_ID = re.compile(r"[A-Za-z0-9._:+/=@-]{1,128}", re.ASCII)
"""An `X-Request-ID` that is taken as it is."""
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
KEPT_FROM_BROWSERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}
"""Headers of every answer that does not have its own."""

log = logging.getLogger(__name__)


class ServiceGuard:
    """ASGI middleware; it sets `scope["request_id"]`, and `scope["owner"]` for the routes under /v1/."""

    def __init__(self, app: ASGIApp, context: ServiceContext) -> None:
        self._app, self._settings, self._metrics = app, context.settings, context.metrics
        self._rates, self._tickets = context.rates, context.tickets
        self._max_body = int(self._settings.max_body_mb * 1_000_000)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        arriving = _RequestBody(receive, waits="expect" in Headers(scope=scope))
        request_id = scope["request_id"] = _request_id(Headers(scope=scope))
        answer = _AnswerSender(send, arriving, request_id)
        try:
            await self._serve(scope, arriving, answer)
        except RequestRefusal as refused:
            await answer.refuse(refused)
        except Exception:  # a bug of ours: told in the log, not to the caller
            log.exception("%s %s failed (request %s)", scope["method"], _template(scope), request_id)
            await answer.refuse(RequestRefusal(500, "internal", "the request failed unexpectedly"))
        finally:
            self._metrics.request(_template(scope), answer.status)
            name = self._settings.keys.grants[scope["owner"]].name if "owner" in scope else ""
            whose = f"request {request_id}, key {name}" if name else f"request {request_id}"
            log.info("%s %s: %d (%s)", scope["method"], _template(scope), answer.status, whose)

    async def _serve(self, scope: Scope, receive: Receive, answer: _AnswerSender) -> None:
        headers = Headers(scope=scope)
        self._refuse_strange_host(headers)
        if scope["method"] not in READING:
            self._refuse_other_site(headers)
        if scope["path"].startswith(f"{self._settings.public_path}/"):  # where the proxy does not take it off
            scope["path"] = scope["path"].removeprefix(self._settings.public_path)
            scope["raw_path"] = scope["path"].encode()
        if scope["path"].startswith("/v1/"):
            address = (scope.get("client") or ("-",))[0]
            owner = self._settings.keys.owner(headers.get("authorization"))
            if owner is None and scope["method"] in READING:
                owner = self._tickets.owner(scope["path"], scope["query_string"])
            if owner is None:
                raise await self._without_owner(scope, headers, address)
            scope["owner"] = owner
            await self._rates.take(
                "jobs" if _asks_for_work(scope) and scope["path"] != TICKETS else "reads", owner or address
            )
        body = await self._body(scope, headers, receive)
        await self._app(scope, replayed(body, receive), answer)

    async def _without_owner(self, scope: Scope, headers: Headers, address: str) -> RequestRefusal:
        """The refusal of an unknown caller. A missing key is no attempt at one: a page may always ask for it."""
        if given := headers.get("authorization"):
            await self._rates.take_wrong_key(address, given)
        is_opened = opens(scope["path"]) and "text/html" in headers.get("accept", "")
        return RequestRefusal(
            401,
            "unauthorized",
            key_refusal(given),
            headers={"WWW-Authenticate": "Bearer"},
            page=EXPIRED if is_opened else None,
        )

    def _refuse_strange_host(self, headers: Headers) -> None:
        """Refuses unknown hosts: a name that a stranger's DNS points at this machine must not reach it by a browser."""
        if not self._settings.binding.is_loopback:
            return
        name = headers.get("host", "").rpartition(":")[0] if _has_port(headers.get("host", "")) else headers.get("host")
        ours = LOCAL_NAMES | {self._settings.host, self._settings.public_host}
        if not name or name.lower() not in ours:
            raise RequestRefusal(400, "wrong_host", "this service answers to its own address only")

    def _refuse_other_site(self, headers: Headers) -> None:
        """Refuses changes by a page of another site, which would act in its reader's name."""
        origin = headers.get("origin")
        if origin is None or origin == self._settings.public_origin:
            return
        try:
            ours = urlsplit(origin).netloc == headers.get("host", "") != ""
        except ValueError:
            ours = False
        if not ours:
            raise RequestRefusal(403, "wrong_origin", "requests from pages of other sites are refused")

    async def _body(self, scope: Scope, headers: Headers, receive: Receive) -> bytes:
        """The whole body, counted and timed while it comes. Raises RequestRefusal."""
        if _asks_for_work(scope):
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise RequestRefusal(415, "wrong_content_type", "send application/json")
        length = headers.get("content-length")
        if length is not None and "transfer-encoding" in headers:  # two servers might read two different bodies
            raise _bad_request("Content-Length and Transfer-Encoding exclude each other", _CLOSE)
        if length is not None and (not length.isascii() or not length.isdigit()):
            raise _bad_request("Content-Length is not a number")
        is_read = (_asks_for_work(scope) or scope["method"] == "PUT") and scope["path"].startswith("/v1/")
        most = self._max_body if is_read else MOST_WHERE_NONE_IS_READ
        too_long = RequestRefusal(413, "too_large", f"a request has at most {most:,} bytes", headers=_CLOSE)
        if length is not None and (len(length) > 15 or int(length) > most):
            raise too_long
        try:
            return await received(receive, most, self._settings.body_timeout_s)
        except BodyTooLong as error:
            raise too_long from error
        except CallerLeft as error:
            raise _bad_request("the request ended early") from error
        except TimeoutError as error:
            message = "the request did not come in whole in time"
            raise RequestRefusal(408, "too_slow", message, headers=_CLOSE) from error


_CLOSE = {"Connection": "close"}


def _bad_request(message: str, headers: Mapping[str, str] | None = None) -> RequestRefusal:
    return RequestRefusal(400, "bad_request", message, headers=headers)


class _RequestBody:
    """The body as the caller sends it, and whether all of it has arrived.

    A caller that `waits` sends a body only when told to continue, which the first look at the body does.
    """

    def __init__(self, receive: Receive, *, waits: bool) -> None:
        self._receive, self._is_whole = receive, waits

    async def __call__(self) -> Message:
        message = await self._receive()
        self._is_whole = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message

    async def discard(self) -> None:
        """Reads on for a while: a caller cut off while sending would lose the answer, too."""
        size = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCARDED_WITHIN_S):
                while not self._is_whole and size < MOST_DISCARDED:
                    size += len((await self()).get("body", b""))


class _AnswerSender:
    """Sends with the headers that every answer has, and knows whether it has begun."""

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
        async with asyncio.timeout(SENT_WITHIN_S):  # the caller does not read the answer
            await self._send(message)

    async def refuse(self, refused: RequestRefusal) -> None:
        if self.status:  # too late for a status: the connection is closed instead, by the server
            return
        body, media_type = refused.body(self._request_id)
        given = {"content-type": media_type, "content-length": str(len(body)), **refused.headers}
        headers = [(name.encode(), value.encode()) for name, value in given.items()]
        await self({"type": "http.response.start", "status": refused.status, "headers": headers})
        await self({"type": "http.response.body", "body": body, "more_body": True})
        await self._arriving.discard()
        await self({"type": "http.response.body", "body": b""})


def _asks_for_work(scope: Scope) -> bool:
    """Whether a request asks for work. Stopping and deleting do not: a caller at the limit must be able to stop."""
    return scope["method"] == "POST" and not scope["path"].endswith("/cancel")


def _request_id(headers: Headers) -> str:
    """The caller's own `X-Request-ID`, where it is fit for a log; else a new one."""
    given = headers.get("x-request-id", "")
    return given if REQUEST_ID.fullmatch(given) else secrets.token_hex(16)


def _has_port(host: str) -> bool:
    return host.rpartition(":")[2].isdigit() and not host.endswith("]")


def _template(scope: Scope) -> str:
    """The route as it is declared: what callers send never becomes a label."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "none"
