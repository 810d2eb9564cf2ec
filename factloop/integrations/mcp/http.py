"""The MCP server over streamable HTTP: on loopback, or behind a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from factloop.entrance.address import Binding, address_of, in_brackets
from factloop.entrance.callers import (
    BODY_WITHIN_S,
    LONGEST_HEADERS,
    BodyTooLong,
    CallerLeft,
    most_connections,
    patient_protocol,
    received,
    replayed,
)
from factloop.entrance.keys import ApiKeys, key_refusal

PATH = "/mcp"
MOST_CONNECTIONS = 200
MOST_SESSIONS = 1_000
MOST_BODY_BYTES = 8_000_000
STOPPED_WITHIN_S = 5


class Guard:
    """ASGI middleware: refuses callers without one of the keys, if there are keys, and incomplete requests."""

    def __init__(self, app: ASGIApp, keys: ApiKeys, body_within_s: float) -> None:
        self._app, self._keys, self._body_within_s = app, keys, body_within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).get("authorization") if scope["type"] == "http" else None
        if scope["type"] == "http" and self._keys.owner(given) is None:
            refusal = JSONResponse({"error": key_refusal(given)}, 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        if scope["type"] == "http":
            try:
                body = await received(receive, MOST_BODY_BYTES, self._body_within_s)
            except BodyTooLong:
                await _too_much(scope, receive, send)
                return
            except TimeoutError:
                await _too_slow(scope, receive, send)
                return
            except CallerLeft:
                return
            receive = replayed(body, receive)
        await self._app(scope, receive, send)


_CLOSE = {"Connection": "close"}
_too_much = JSONResponse({"error": f"a request has at most {MOST_BODY_BYTES:,} bytes"}, 413, _CLOSE)
_too_slow = JSONResponse({"error": "the request did not come in whole in time"}, 408, _CLOSE)


def build_app(server: MCPServer[Any], binding: Binding, *, body_within_s: float = BODY_WITHIN_S) -> ASGIApp:
    """The application at `/mcp`. On loopback only requests to this machine's own names are heard (DNS rebinding)."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host=binding.host,
        max_sessions=MOST_SESSIONS,
        max_request_body_size=MOST_BODY_BYTES,
        transport_security=_own_names(binding),
    )
    return Guard(app, binding.keys, body_within_s)


async def serve_http(server: MCPServer[Any], binding: Binding, *, ready: Callable[[str], None]) -> None:
    """Serves until the process is told to stop. `ready` is told the address. Raises ConfigError."""
    with binding.listening() as listening:
        most = most_connections(MOST_CONNECTIONS)
        config = uvicorn.Config(
            build_app(server, binding),
            http=patient_protocol(most),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=most,
            h11_max_incomplete_event_size=LONGEST_HEADERS,
            timeout_graceful_shutdown=STOPPED_WITHIN_S,
        )
        ready(f"{address_of(listening)}{PATH}")
        await uvicorn.Server(config).serve(sockets=[listening])


def _own_names(binding: Binding) -> TransportSecuritySettings:
    """Behind a key on another address any name may lead here: a page of a stranger has no key."""
    if not binding.is_loopback:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = sorted({"127.0.0.1", "localhost", "[::1]", in_brackets(binding.host)})
    return TransportSecuritySettings(
        allowed_hosts=[f"{name}:*" for name in names], allowed_origins=[f"http://{name}:*" for name in names]
    )
