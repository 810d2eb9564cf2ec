"""Attempts with wrong keys: counted by address and by key, so that none of them shuts out a good key."""

from __future__ import annotations

import hashlib
import time

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from factloop.service.errors import RequestRefusal

OF_ONE_KEY = RateLimitItemPerMinute(10)
"""Attempts with one wrong key from one address: a program that was set up wrongly."""
OF_AN_ADDRESS = RateLimitItemPerMinute(60)
"""Attempts with any wrong keys from one address: a search for a key, or many readers behind one proxy."""


class KeyAttempts:
    """Counts the wrong keys of this process's callers. Good keys are let in, whatever their address sent before."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def take(self, address: str, authorization: str) -> None:
        """Counts an attempt. Raises RequestRefusal, with the seconds to wait, after too many."""
        key = hashlib.sha256(authorization.encode("utf-8", "surrogateescape")).hexdigest()
        self._hit(OF_AN_ADDRESS, address)
        self._hit(OF_ONE_KEY, address, key)

    def _hit(self, limit: RateLimitItem, *whose: str) -> None:
        if not self._limiter.hit(limit, *whose):
            wait = self._limiter.get_window_stats(limit, *whose).reset_time - time.time()
            raise RequestRefusal(
                429,
                "too_many_attempts",
                f"at most {limit} with a wrong key; a right one is let in at once",
                headers={"Retry-After": str(max(1, round(wait + 0.5))), "WWW-Authenticate": "Bearer"},
            )
