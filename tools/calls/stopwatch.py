"""A stopwatch in the time of the event loop."""

from __future__ import annotations

import asyncio


class Stopwatch:
    """Counts the seconds that it ran since it was set back, in the loop's time."""

    def __init__(self) -> None:
        self._shown_s = 0.0
        self._started_at: float | None = None

    @property
    def seconds(self) -> float:
        return self._shown_s + (
            0.0 if self._started_at is None else asyncio.get_running_loop().time() - self._started_at
        )

    def start(self) -> None:
        self._started_at = asyncio.get_running_loop().time()

    def stop(self) -> None:
        self._shown_s, self._started_at = self.seconds, None

    def reset(self, to_s: float = 0.0) -> None:
        """Sets it back, or to so many seconds; if it runs it goes on running."""
        self._shown_s = to_s
        if self._started_at is not None:
            self.start()
