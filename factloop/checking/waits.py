"""The steps of a check and, between them, word of the servers that it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from factloop.core.events import ServerWait
from factloop.tools.calls.patience import told_of_waits

T = TypeVar("T")


async def with_waits(steps: AsyncGenerator[T, None]) -> AsyncGenerator[T | ServerWait, None]:
    """The steps as they come, and `ServerWait` while a server lets them wait. Raises as the steps.

    They are made in a task of their own, so that something can be said meanwhile. It ends with this generator.
    """
    made: asyncio.Queue[T | ServerWait | None] = asyncio.Queue()

    async def make() -> None:
        with told_of_waits(made.put_nowait):
            async with aclosing(steps):
                async for step in steps:
                    made.put_nowait(step)

    making = asyncio.create_task(make())
    making.add_done_callback(lambda _: made.put_nowait(None))
    try:
        while (one := await made.get()) is not None:
            yield one
        making.result()
    finally:
        making.cancel()
        await asyncio.gather(making, return_exceptions=True)
