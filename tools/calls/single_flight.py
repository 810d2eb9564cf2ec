"""Identical calls that overlap in time are made once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from factloop.tools.calls.allowance import is_of_one_check

T = TypeVar("T")


class _Abandoned(Exception):
    """Tells the followers of a flight that its leader was cancelled, or came to the end of what its check may take."""


class SingleFlight(Generic[T]):
    """Shares the result, or the error, of a call among all who ask for it while it is under way.

    An error by the limits of one check is its leader's alone: then a follower makes the call, under its own.
    """

    def __init__(self) -> None:
        self._flights: dict[str, asyncio.Future[T]] = {}

    async def do(self, key: str, call: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """The result, and whether it was shared: True where another caller's flight brought it."""
        while (flight := self._flights.get(key)) is not None:
            try:
                return await asyncio.shield(flight), True
            except _Abandoned:
                continue  # the leader had to end, not this follower: one of the followers calls again
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        try:
            result = await call()
        except asyncio.CancelledError:
            _fail(flight, _Abandoned())  # not cancelled: a follower could not tell that from its own cancellation
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
    flight.exception()  # marks it as seen: there may be no follower to do so
