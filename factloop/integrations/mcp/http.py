"""The MCP server over streamable HTTP: on loopback, or behind a key."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from factloop.errors import ConfigError
from factloop.service.keys import Keys
from factloop.service.settings import ServiceSettings

PATH = "/mcp"
MOST_CONNECTIONS = 200
MOST_SESSIONS = 1_000
STOPPED_WITHIN_S = 5


class Keyed:
    """ASGI middleware that lets nobody by without one of the keys, where there are any."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._keys.owner(Headers(scope=scope).get("authorization")) is None:
            refusal = JSONResponse(
                {"error": "a key is needed: Authorization: Bearer KEY"}, 401, {"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def build_app(server: MCPServer[Any], settings: ServiceSettings) -> ASGIApp:
    """The application at `/mcp`. On loopback only requests to this machine's own names are heard (DNS rebinding)."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host=settings.host,
        max_sessions=MOST_SESSIONS,
        max_request_body_size=int(settings.max_body_mb * 1_000_000),
        transport_security=_own_names(settings),
    )
    return Keyed(app, settings.keys)


async def serve_http(server: MCPServer[Any], settings: ServiceSettings, *, ready: Callable[[str], None]) -> None:
    """Serves until the process is told to stop. `ready` is told the address. Raises ConfigError."""
    host, port = settings.host, settings.port
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"--host {host} --port {port}: cannot be taken ({_reason(error)})") from error
    with listening:
        config = uvicorn.Config(
            build_app(server, settings),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=STOPPED_WITHIN_S,
        )
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
        await uvicorn.Server(config).serve(sockets=[listening])


def _own_names(settings: ServiceSettings) -> TransportSecuritySettings:
    """Behind a key on another address any name may lead here: a page of a stranger has no key."""
    if not settings.is_loopback:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    names = sorted({"127.0.0.1", "localhost", "[::1]", host})
    return TransportSecuritySettings(
        allowed_hosts=[f"{name}:*" for name in names], allowed_origins=[f"http://{name}:*" for name in names]
    )


def _reason(error: Exception) -> object:
    return getattr(error, "strerror", None) or error
