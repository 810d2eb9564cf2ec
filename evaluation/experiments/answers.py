"""Answers that several variants share: each call is made once, and whoever uses its answer is charged in full."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factloop.core.errors import FactloopError
from factloop.core.records import Usage
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.single_flight import SingleFlight

Ask = Callable[[UsageMeter], Awaitable[Any]]
"""Makes a call, accounts for it, and gives its answer as a JSON value."""


@dataclass(frozen=True)
class Answer:
    """What a call brought, and what it cost whoever made it."""

    value: Any
    usage: Usage


class Answers:
    """Answers by key in one file, on disk before they are used. Lives in one event loop."""

    def __init__(self, path: Path) -> None:
        """Opens or makes the file. Raises ConfigError where it cannot be used."""
        self._kept = CallCache(path)
        self._flights: SingleFlight[dict[str, Any]] = SingleFlight()
        self._failed = UsageMeter()
        self.spent = UsageMeter()
        """What was paid since this was opened."""

    async def once(self, key: str, ask: Ask, *, meter: UsageMeter) -> Answer:
        """The answer kept under the key, or that of the first who asks; its cost is for the caller to charge.

        An error reaches all who wait for it, and is not kept; what failed is charged to the `meter` of the one who
        asked. Raises as `ask`, and ConfigError.
        """

        async def make() -> dict[str, Any]:
            account = UsageMeter()
            try:
                value = await ask(account)
            except FactloopError:
                for one in (meter, self._failed, self.spent):
                    one.add(account.snapshot(0.0))
                raise
            usage = account.snapshot(0.0)
            self.spent.add(usage)
            made = {"value": value, "usage": usage.model_dump(mode="json")}
            self._kept.put(key, made, calls=usage.calls, usd=usage.cost_usd or 0.0)
            return made

        kept = self._kept.get(key)
        found = kept.value if kept is not None else (await self._flights.do(key, make))[0]
        return Answer(found["value"], Usage.model_validate(found["usage"]))

    @property
    def paid_before(self) -> tuple[int, float]:
        """Model calls and dollars paid for what is kept: a budget that holds over all attempts begins with them."""
        return self._kept.paid()

    def close(self) -> None:
        self._kept.close()

    def add_to(self, meter: UsageMeter) -> None:
        """Adds what was paid for all that is kept, in all attempts, and what failed in this one."""
        for made in self._kept.values():
            meter.add(Usage.model_validate(made["usage"]))
        meter.add(self._failed.snapshot(0.0))


def paid_for(answers: Iterable[Answers], elapsed_s: float) -> Usage:
    """What was really paid in all attempts, each answer once."""
    meter = UsageMeter()
    for one in answers:
        one.add_to(meter)
    return meter.snapshot(elapsed_s)


def spent_on(answers: Iterable[Answers], elapsed_s: float) -> Usage:
    """What was really paid in this attempt, so far."""
    meter = UsageMeter()
    for one in answers:
        meter.add(one.spent.snapshot(0.0))
    return meter.snapshot(elapsed_s)
