"""Runs the MCP server over streamable HTTP, on a loopback address or with API keys."""

from __future__ import annotations

from asyncio import Queue
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from factloop.entrance.address import Binding, address_of, in_brackets
from factloop.entrance.callers import (
    BODY_WITHIN_S,
    MOST_CONNECTIONS,
    OpenRequests,
    RequestError,
    received,
    replayed,
    server_config,
)
from factloop.entrance.keys import ApiKeys, key_refusal
from factloop.integrations.mcp.server import OWNER, PRESENCE, Presence
from factloop.tools.calls.limiter import CALLER

PATH = "/mcp"
MOST_SESSIONS = 1_000
"""Maximum number of open sessions. Each key gets an equal share."""
MOST_BODY_BYTES = 8_000_000
STOPPED_WITHIN_S = 5


class Guard:
    """ASGI middleware that rejects incomplete requests, too many at once and, if keys are set, callers without a valid
    key. A key that opens more sessions than its share loses its least recently used session."""

    def __init__(self, app: ASGIApp, keys: ApiKeys, body_within_s: float) -> None:
        self._app, self._keys, self._body_within_s = app, keys, body_within_s
        self._open = OpenRequests(keys, MOST_BODY_BYTES)
        self._sessions: defaultdict[str, OrderedDict[str, int]] = defaultdict(OrderedDict)
        """Each owner's sessions, least recently used first, with the number of calls in progress."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("authorization")
        if (owner := self._keys.owner(given)) is None:
            refusal = JSONResponse({"error": key_refusal(given)}, 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        CALLER.set(owner)
        try:
            with self._open.admit(scope, owner) as hold:
                body = await received(receive, hold, MOST_BODY_BYTES, self._body_within_s)
                await self._serve(owner, scope, replayed(body, receive), send)
        except RequestError as error:
            await JSONResponse({"error": str(error)}, error.status, {"Connection": "close"})(scope, receive, send)

    async def _serve(self, owner: str, scope: Scope, receive: Receive, send: Send) -> None:
        sessions, session, is_call = self._sessions[owner], Headers(scope=scope).get(MCP_SESSION_ID_HEADER, ""), False

        async def noted(message: Message) -> None:
            nonlocal session, is_call
            if message["type"] == "http.response.start":
                opened = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                if session and (message["status"] == 404 or scope["method"] == "DELETE"):
                    sessions.pop(session, None)
                elif not session and opened and message["status"] < 400:
                    session, is_call, sessions[opened] = opened, True, 1
                    await self._end_above_shares(scope)
            await send(message)

        if session in sessions:
            sessions.move_to_end(session)
            is_call = scope["method"] == "POST"
            sessions[session] += is_call
        presence = Presence()
        try:
            await self._app({**_by(owner, scope), PRESENCE: presence}, receive, noted)
        finally:
            presence.leave()  # sessions cannot be resumed, so the answer of a call in progress would be lost
            if is_call and session in sessions:
                sessions[session] -= 1

    async def _end_above_shares(self, scope: Scope) -> None:
        """Ends idle sessions: all sessions of removed keys, and the oldest sessions of keys that exceed their share."""
        share, ended = max(1, MOST_SESSIONS // len(self._keys.grants)), []
        for owner, sessions in self._sessions.items():
            n_over = len(sessions) - (share if owner in self._keys.grants else 0)
            idle = [session for session, n_calls in sessions.items() if not n_calls]
            ended += [(owner, session, sessions.pop(session)) for session in idle[: max(0, n_over)]]
        for owner, session, _ in ended:
            headers, answer = [*scope["headers"], (MCP_SESSION_ID_HEADER.encode(), session.encode())], Queue[Message]()
            request = {**_by(owner, scope), "method": "DELETE", "headers": headers}
            await self._app(request, replayed(b"", answer.get), answer.put)


def _by(owner: str, scope: Scope) -> Scope:
    """Sets the owner as the user, so that the SDK rejects requests to other owners' sessions."""
    user = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
    return {**scope, OWNER: owner, "user": user}


def build_app(server: MCPServer[Any], binding: Binding, *, body_within_s: float = BODY_WITHIN_S) -> ASGIApp:
    """Builds the application at `/mcp`. On loopback, it accepts only this machine's names, to prevent DNS rebinding."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host=binding.host,
        max_sessions=MOST_SESSIONS + MOST_CONNECTIONS,  # including sessions that are being opened
        max_request_body_size=MOST_BODY_BYTES,
        transport_security=_own_names(binding),
    )
    return Guard(app, binding.keys, body_within_s)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._stopping = stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            self._stopping()
        super().handle_exit(sig, frame)


async def serve_http(
    server: MCPServer[Any], binding: Binding, *, ready: Callable[[str], None], stopping: Callable[[], None]
) -> None:
    """Serves until stopped. Calls `ready` with the URL, and `stopping` when a signal arrives. Raises ConfigError."""
    with binding.listening() as listening:
        app = build_app(server, binding)
        config = server_config(app, proxy_headers=False, timeout_graceful_shutdown=STOPPED_WITHIN_S)
        ready(f"{address_of(listening)}{PATH}")
        await _Server(config, stopping).serve(sockets=[listening])


def _own_names(binding: Binding) -> TransportSecuritySettings:
    """Checks host names only on loopback. Elsewhere, requests need a key, which malicious pages do not have."""
    if not binding.is_loopback:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = sorted({"127.0.0.1", "localhost", "[::1]", in_brackets(binding.host)})
    return TransportSecuritySettings(
        allowed_hosts=[f"{name}:*" for name in names], allowed_origins=[f"http://{name}:*" for name in names]
    )
