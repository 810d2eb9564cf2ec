"""Several calls at a time: all at once, or a bounded number with results as they come. None outlives the caller."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def together(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in the order of the calls. The first to fail stops the others, and its error is raised as it is."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def as_they_come(
    items: Iterable[T], work: Callable[[T], Awaitable[R]], *, at_once: int
) -> AsyncGenerator[R, None]:
    """The result of `work` on each item as soon as it is there, with `at_once` under way.

    The first error ends all; results that were there by then come before it, since they may have been paid for.
    """
    under_way: set[asyncio.Future[R]] = set()
    done: set[asyncio.Future[R]] = set()
    try:
        for item in items:
            under_way.add(asyncio.ensure_future(work(item)))
            if len(under_way) >= at_once:
                done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for future in _errors_last(done):
                    yield future.result()
        while under_way:
            done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for future in _errors_last(done):
                yield future.result()
    finally:
        for future in under_way:
            future.cancel()
        await asyncio.gather(*under_way, *done, return_exceptions=True)  # sees the errors that came with the first


def _errors_last(done: Iterable[asyncio.Future[R]]) -> list[asyncio.Future[R]]:
    return sorted(done, key=lambda future: future.cancelled() or future.exception() is not None)
