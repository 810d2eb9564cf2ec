from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from fastapi import FastAPI

from factloop.service.app import serve

STARTED_WITHIN_S = 60.0


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    addresses: list[str] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    task: asyncio.Task[None] | None = None

    def told(address: str) -> None:
        addresses.append(address)
        ready.set()

    async def run() -> None:
        with suppress(asyncio.CancelledError):
            await serve(app, ready=told)

    def main() -> None:
        nonlocal task
        task = loop.create_task(run())
        try:
            loop.run_until_complete(task)
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    thread = threading.Thread(target=main, name="service", daemon=True)
    thread.start()
    assert ready.wait(STARTED_WITHIN_S), "the service did not start"
    try:
        yield addresses[0]
    finally:
        assert task is not None
        loop.call_soon_threadsafe(task.cancel)
        thread.join(STARTED_WITHIN_S)
