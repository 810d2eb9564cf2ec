"""A uvicorn server in a thread of the tests."""

from __future__ import annotations

import asyncio
import socket

import uvicorn


class ThreadedServer(uvicorn.Server):
    """Closes every connection when it stops. uvicorn leaves those open that were accepted as it began to stop, since
    its process ends; a browser connects ahead of its requests."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            if (transport := connection.transport) is not None:
                transport.abort()
        await asyncio.sleep(0)
