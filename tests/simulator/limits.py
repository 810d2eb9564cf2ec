from __future__ import annotations

import math
import time
from typing import Literal


class TokenBucket:
    """Allows `rate` requests a second, and bursts up to its capacity."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._capacity = self._level = max(1.0, rate)
        self._filled_at = time.perf_counter()

    def take(self) -> float:
        """Takes one request. Returns 0.0 if there was room, otherwise the seconds until there is."""
        now = time.perf_counter()
        self._level = min(self._capacity, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._level >= 1.0:
            self._level -= 1.0
            return 0.0
        return (1.0 - self._level) / self._rate


def retry_after(wait_s: float, style: Literal["seconds", "none"]) -> dict[str, str]:
    """The header that tells a refused client when to come back."""
    return {"Retry-After": str(math.ceil(wait_s))} if style == "seconds" else {}
