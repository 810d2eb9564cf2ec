"""The limits on one caller's requests: jobs over all services that share a database, reads by each service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from limits import RateLimitItem, parse_many

from factloop.core.errors import ConfigError
from factloop.service.errors import RequestRefusal
from factloop.service.windows import Windows

READS_FOR_A_JOB = 10
"""How many times as many reads a caller may make as requests for work."""
MOST_REQUESTS = 1_000_000_000
LONGEST_DAYS = 36_500
LONGEST_S = 86_400 * LONGEST_DAYS


class RateLimits:
    """Counts the requests of callers, refused ones too."""

    def __init__(self, rate: str, windows: Windows) -> None:
        """Raises ConfigError for a rate that cannot be read."""
        try:
            jobs = parse_many(rate)
        except ValueError as error:
            raise ConfigError(f"--rate {rate!r}: say for instance 60/minute") from error
        if any(not (0 < one.amount <= MOST_REQUESTS and one.get_expiry() <= LONGEST_S) for one in jobs):
            raise ConfigError(
                f"--rate {rate!r}: give 1 to {MOST_REQUESTS:,} requests, in a time of at most {LONGEST_DAYS:,} days"
            )
        self._limits = {"jobs": jobs, "reads": [_oftener(limit) for limit in jobs]}
        self._windows = windows

    async def take(self, kind: Literal["jobs", "reads"], caller: str) -> None:
        """Counts a request. Raises RequestRefusal, with the seconds to wait, if the caller makes too many."""
        for limit in self._limits[kind]:
            wait_s = await self._windows.wait_s(limit, kind, caller, of_all=kind == "jobs")
            if wait_s:
                raise RequestRefusal(
                    429, "too_many_requests", f"at most {limit}", headers={"Retry-After": str(wait_s)}
                )  # fmt: skip


def _oftener(limit: RateLimitItem) -> RateLimitItem:
    kind: Callable[..., RateLimitItem] = type(limit)
    return kind(READS_FOR_A_JOB * limit.amount, limit.multiples)
