"""Identical calls that overlap in time are made once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Shares the result, or the error, of a call among all who ask for it while it is under way."""

    def __init__(self) -> None:
        self._flights: dict[str, asyncio.Future[T]] = {}

    async def do(self, key: str, call: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """The result, and whether it was shared: True where another caller's flight brought it."""
        while (flight := self._flights.get(key)) is not None:
            try:
                return await asyncio.shield(flight), True
            except asyncio.CancelledError:
                if not flight.cancelled():
                    raise  # it is we who were cancelled
                # The leader was cancelled, not we: somebody has to fly again.
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        try:
            result = await call()
        except asyncio.CancelledError:
            flight.cancel()
            raise
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # followers may be none: the error is raised here in any case
            raise
        else:
            flight.set_result(result)
            return result, False
        finally:
            del self._flights[key]
