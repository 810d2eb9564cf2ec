"""Runs calls concurrently, all at once or a limited number at a time. No call outlives its caller."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from typing import Any, Generic, TypeVar

from factloop.tools.calls.budget import is_of_one_check

T = TypeVar("T")
R = TypeVar("R")


async def together(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Returns the results in the order of the calls. The first failure cancels the rest and is raised unchanged."""
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
    """Yields the results of `work` as they become available, with at most `at_once` calls in progress.

    The first error ends the iteration, after the results that are already available, which may have cost money.
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
        await asyncio.gather(*under_way, *done, return_exceptions=True)  # retrieves further errors


def _errors_last(done: Iterable[asyncio.Future[R]]) -> list[asyncio.Future[R]]:
    return sorted(done, key=lambda future: future.cancelled() or future.exception() is not None)


class _Abandoned(Exception):
    """Tells callers that share a call that its first caller was cancelled or reached the limits of its check."""


class SingleFlight(Generic[T]):
    """Makes a call once for all callers that request it while it is in progress. They share its result or error.

    An error caused by the limits of one check applies only to the caller that made the call. Another one repeats it.
    """

    def __init__(self) -> None:
        self._flights: dict[str, asyncio.Future[T]] = {}

    async def do(self, key: str, call: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """Returns the result and whether it came from another caller's call."""
        while (flight := self._flights.get(key)) is not None:
            try:
                return await asyncio.shield(flight), True
            except _Abandoned:
                continue  # only the first caller had to stop, so another one repeats the call
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        try:
            result = await call()
        except asyncio.CancelledError:
            _fail(flight, _Abandoned())  # a waiting caller could not tell a cancelled call from its own cancellation
            raise
        except Exception as error:
            _fail(flight, _Abandoned() if is_of_one_check(error) else error)
            raise
        else:
            flight.set_result(result)
            return result, False
        finally:
            del self._flights[key]


def _fail(flight: asyncio.Future[T], error: Exception) -> None:
    flight.set_exception(error)
    flight.exception()  # marks the error as retrieved, because no other caller may be waiting for it
