"""A run's limits divided among its workers, so that together they keep them."""

from __future__ import annotations

from factloop.core.errors import ConfigError
from factloop.setup.settings import CheckSettings


def divide(settings: CheckSettings, workers: int, *, paid: tuple[int, float]) -> list[CheckSettings]:
    """The settings of each worker. Calls and dollars `paid` by earlier attempts are taken off first.

    What one worker leaves of its share no other can use: near its end a budget is kept, not used up. Raises ConfigError
    for more workers than calls may be in flight.
    """
    if 0 < settings.concurrency < workers:
        raise ConfigError(f"--workers {workers}: more than the calls in flight (--concurrency {settings.concurrency})")
    shares = []
    for number in range(workers):
        changes: dict[str, int | float] = {"concurrency": _part(settings.concurrency, number, workers)}
        if settings.requests_per_second is not None:
            changes["requests_per_second"] = settings.requests_per_second / workers
        if settings.max_calls is not None:
            changes["max_calls"] = _part(max(0, settings.max_calls - paid[0]), number, workers)
        if settings.budget_usd is not None:
            changes["budget_usd"] = max(0.0, settings.budget_usd - paid[1]) / workers
        shares.append(CheckSettings.of(settings, **changes))
    return shares


def add_paid(share: CheckSettings, *, paid: tuple[int, float]) -> CheckSettings:
    """The share as limits for an engine whose journal says that so much is paid already."""
    changes: dict[str, int | float] = {}
    if share.max_calls is not None:
        changes["max_calls"] = share.max_calls + paid[0]
    if share.budget_usd is not None:
        changes["budget_usd"] = share.budget_usd + paid[1]
    return CheckSettings.of(share, **changes)


def is_limited(settings: CheckSettings) -> bool:
    """Whether calls or dollars are counted against a limit."""
    return settings.max_calls is not None or settings.budget_usd is not None


def _part(whole: int, number: int, parts: int) -> int:
    """One of `parts` nearly equal parts of `whole`, the larger ones first: 5 in two is 3 and 2."""
    return whole // parts + (number < whole % parts)
