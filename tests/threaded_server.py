from __future__ import annotations

import asyncio
import socket

import uvicorn


class ThreadedServer(uvicorn.Server):
    """Closes every connection when it stops.

    uvicorn leaves connections accepted during shutdown open, since its process ends, and browsers connect in advance.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            if (transport := connection.transport) is not None:
                transport.abort()
        await asyncio.sleep(0)
