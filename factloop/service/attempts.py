"""Attempts with wrong keys: counted by address and by key, so that none of them shuts out a good key."""

from __future__ import annotations

import hashlib

from limits import RateLimitItem, RateLimitItemPerMinute

from factloop.service.errors import RequestRefusal
from factloop.service.windows import Windows

OF_ONE_KEY = RateLimitItemPerMinute(10)
"""Attempts with one wrong key from one address: a program that was set up wrongly."""
OF_AN_ADDRESS = RateLimitItemPerMinute(60)
"""Attempts with any wrong keys from one address: a search for a key, or many readers behind one proxy."""


class KeyAttempts:
    """Counts wrong keys, over all services that share a database. A good key is let in, whatever its address sent."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows

    async def take(self, address: str, authorization: str) -> None:
        """Counts an attempt. Raises RequestRefusal, with the seconds to wait, after too many."""
        key = hashlib.sha256(authorization.encode("utf-8", "surrogateescape")).hexdigest()
        await self._hit(OF_AN_ADDRESS, "address", address)
        await self._hit(OF_ONE_KEY, "key", address, key)

    async def _hit(self, limit: RateLimitItem, *whose: str) -> None:
        wait_s = await self._windows.wait_s(limit, *whose, of_all=True)
        if wait_s:
            raise RequestRefusal(
                429,
                "too_many_attempts",
                f"at most {limit} with a wrong key; a right one is let in at once",
                headers={"Retry-After": str(wait_s), "WWW-Authenticate": "Bearer"},
            )
