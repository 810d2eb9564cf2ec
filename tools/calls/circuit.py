"""Stops asking a server that does not answer, so that a thousand questions do not wait for a thousand time-outs."""

from __future__ import annotations

import time
from collections.abc import Callable

from factloop.core.errors import ToolError

FAILURES = 3
REST_S = 60.0
_ABOUT_THE_REQUEST = frozenset({400, 413, 414, 422})
"""Statuses that blame this one request: a server that sends them is up and working."""


class Circuit:
    """Refuses at once after `failures` failures in a row; every `rest_s` seconds one request may try again.

    `clock` gives seconds.
    """

    def __init__(
        self,
        *,
        tool: str,
        failures: int = FAILURES,
        rest_s: float = REST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tool, self._limit, self._rest_s, self._clock = tool, failures, rest_s, clock
        self._failures = 0
        self._resting_until = -float("inf")
        self._why = ""

    def check(self) -> None:
        """Raises ToolError while the server is left alone."""
        if self._clock() < self._resting_until:
            raise ToolError(f"{self._tool}: not asked again for now ({self._why})", tool=self._tool)

    def admit(self) -> None:
        """Checks as `check`, for a request about to be sent: of those that come after a rest only the first may try."""
        self.check()
        if self._failures >= self._limit:
            self._resting_until = self._clock() + self._rest_s

    def succeeded(self) -> None:
        self._failures = 0
        self._resting_until = -float("inf")

    def failed(self, error: ToolError) -> None:
        """Counts a failure, unless it shows that the server is in order."""
        if error.status in _ABOUT_THE_REQUEST:
            self.succeeded()
            return
        self._failures += 1
        if self._failures >= self._limit:
            self.rest(error, self._rest_s)

    def rest(self, error: ToolError, seconds: float) -> None:
        """Leaves the server alone for so long, because of `error`."""
        self._why = str(error)
        self._resting_until = max(self._resting_until, self._clock() + seconds)
