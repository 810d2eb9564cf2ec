"""Serves the application by uvicorn, and stops it so that nothing is lost."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from factloop.entrance.address import address_of
from factloop.entrance.callers import LONGEST_HEADERS, most_connections, patient_protocol
from factloop.service.context import ServiceContext

MOST_CONNECTIONS = 1_000
"""Connections at a time; further ones are told 503."""


async def serve(app: FastAPI, *, ready: Callable[[str], None]) -> None:
    """Serves until the process is told to stop (SIGINT, SIGTERM), then leaves running jobs to the next start.

    `ready` is told the address. Raises ConfigError where the address cannot be taken, and for what cannot be opened.
    """
    context: ServiceContext = app.state.context
    settings = context.settings
    with settings.listening() as listening:
        async with app.router.lifespan_context(app):
            server = _Server(_config(app, context), context)
            ready(address_of(listening))
            _put_away_in_peace()
            await server.serve(sockets=[listening])


class _Server(uvicorn.Server):
    """Ends streams and waiting answers first: connections are closed only when these are over."""

    def __init__(self, config: uvicorn.Config, context: ServiceContext) -> None:
        super().__init__(config)
        self._context = context

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._context.opened is not None:
            self._context.opened.jobs.begin_stop()
        await super().shutdown(sockets)


def _config(app: FastAPI, context: ServiceContext) -> uvicorn.Config:
    most = most_connections(MOST_CONNECTIONS)
    return uvicorn.Config(
        app,
        http=patient_protocol(most, context.settings.header_timeout_s),
        ws="none",
        lifespan="off",  # it is ours, so that what goes wrong in it is told as it is
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(context.settings.trusted_proxies),
        forwarded_allow_ips=list(context.settings.trusted_proxies),
        limit_concurrency=most,
        h11_max_incomplete_event_size=LONGEST_HEADERS,
        timeout_graceful_shutdown=round(context.settings.stop_timeout_s),
    )


def _put_away_in_peace() -> None:
    """Puts things away after the server raised once more what stopped it."""

    def heard(_number: int, _frame: FrameType | None) -> None:
        return

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, heard)
