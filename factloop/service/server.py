"""Serves the application by uvicorn, and stops it so that nothing is lost."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from factloop.binding.address import address_of
from factloop.service.context import Context

MOST_CONNECTIONS = 1_000
"""At a time; further ones are told 503."""
LONGEST_HEADERS = 32_768


async def serve(app: FastAPI, *, ready: Callable[[str], None]) -> None:
    """Serves until the process is told to stop (SIGINT, SIGTERM), then leaves running jobs to the next start.

    `ready` is told the address. Raises ConfigError where the address cannot be taken, and for what cannot be opened.
    """
    context: Context = app.state.context
    settings = context.settings
    with settings.listening() as listening:
        async with app.router.lifespan_context(app):
            server = _Server(_config(app, context), context)
            ready(address_of(listening))
            _put_away_in_peace()
            await server.serve(sockets=[listening])


class _Server(uvicorn.Server):
    """Ends streams and waiting answers first: connections are closed only when these are over."""

    def __init__(self, config: uvicorn.Config, context: Context) -> None:
        super().__init__(config)
        self._context = context

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._context.opened is not None:
            self._context.opened.jobs.begin_stop()
        await super().shutdown(sockets)


def _config(app: FastAPI, context: Context) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_protocol(context.settings.header_timeout_s),
        ws="none",
        lifespan="off",  # it is ours, so that what goes wrong in it is told as it is
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=LONGEST_HEADERS,
        timeout_graceful_shutdown=round(context.settings.stop_timeout_s),
    )


def _protocol(header_timeout_s: float) -> type[asyncio.Protocol]:
    class Protocol(H11Protocol):
        """Hangs up on who connects and does not say what they want."""

        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is h11.IDLE:  # headers under way, not yet whole
                self._wait()
            else:
                self._wait_no_more()

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait_no_more()
            super().connection_lost(exc)

        def _wait(self) -> None:
            if self._patience is None:
                self._patience = self.loop.call_later(header_timeout_s, self.transport.close)

        def _wait_no_more(self) -> None:
            if self._patience is not None:
                self._patience.cancel()
                self._patience = None

    return Protocol


def _put_away_in_peace() -> None:
    """The server raises what stopped it once more when it is down; by then all that is left is to put things away."""

    def heard(_number: int, _frame: FrameType | None) -> None:
        return

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, heard)
