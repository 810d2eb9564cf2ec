"""Shares answers between variants: each call is made once, but charged to every variant that uses the answer.

Model calls are shared only within a repeat, because each repeat must be a new draw from the model. Searches are shared
across all repeats.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, Self

from factloop.core.errors import BudgetExceeded, FactloopError
from factloop.core.records import Usage
from factloop.tools.calls.answers import AnsweredBy, Call, Value
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import SingleFlight


class SharedAnswers:
    """Stores answers in one file, and saves each before it is used. An instance is bound to one event loop."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError if the file cannot be used."""
        self._kept = CallCache(path)
        self._flights: SingleFlight[tuple[dict[str, Any], UsageMeter | None]] = SingleFlight()
        self._failed = UsageMeter()
        self._ending = ""
        self._asks = True
        self.spent = UsageMeter()

    def asked_with(self, way: str) -> Self:
        """Returns a view of this store that shares answers only with views of the same `way`."""
        other = copy(self)
        other._ending = f" {way}"
        return other

    def asking_nothing(self) -> Self:
        """Returns a view of this store that makes no calls. Any missing answer raises BudgetExceeded."""
        other = copy(self)
        other._asks = False
        return other

    async def once(self, call: Call) -> tuple[Value, AnsweredBy]:
        """Returns the stored answer, or makes the call.

        The account is charged once per answer, and its limits apply even if another account paid for the answer. Failed
        or interrupted calls are charged to the account that made them. An error reaches every waiting caller and is not
        stored. Raises BudgetExceeded, ConfigError and anything that `Call.make` raises.
        """
        key = call.key + self._ending
        (made, payer), _ = await self._flights.do(key, partial(self._found_or_paid, key, call))
        usage = Usage.model_validate(made["usage"])
        if payer is not call.meter and not call.meter.was_charged(key):
            async with call.meter.allowance.reserve(usage.cost_usd or 0.0, calls=usage.calls) as reservation:
                reservation.spent_usd = usage.cost_usd or 0.0
        is_new = call.meter.charge(key, usage, stage=call.stage)
        return made["value"], "call" if is_new else "cache"

    async def _found_or_paid(self, key: str, call: Call) -> tuple[dict[str, Any], UsageMeter | None]:
        """Returns the answer and the account that just paid for it, or None if the answer was stored."""
        kept = await self._kept.aside(partial(self._kept.get, key))
        return (await self._pay(key, call), call.meter) if kept is None else (kept.value, None)

    async def _pay(self, key: str, call: Call) -> dict[str, Any]:
        if not self._asks:
            raise BudgetExceeded("no calls are allowed")
        account = UsageMeter(call.meter.allowance, before_paying=call.meter.before_paying)
        try:
            value = await call.make(account)
        except (FactloopError, asyncio.CancelledError):
            for one in (call.meter, self._failed, self.spent):
                one.add(account.snapshot(0.0))
            raise
        usage = account.snapshot(0.0)
        self.spent.add(usage)
        made = {"value": value, "usage": usage.model_dump(mode="json")}
        if (asked := call.recorded_as) is not None and "messages" in asked.shown:
            made["asked"] = asked.shown["messages"]
        put = partial(self._kept.put, key, made, calls=usage.calls, usd=usage.cost_usd or 0.0)
        await self._kept.aside(put)
        return made

    async def forget(self, key: str) -> None:
        """Does nothing: the store keeps every answer that was paid for."""

    def for_one_check(self) -> Self:
        return self

    def exchanges(self) -> Iterator[tuple[str, str]]:
        """Yields each request to a model with its reply. The messages of a request are joined in order."""
        for made in self._kept.values():
            if "asked" in made:
                reply = made["value"]["reply"]
                yield "\n\n".join(text for _, text in made["asked"]), reply["text"] or json.dumps(reply["tool_calls"])

    @property
    def paid_before(self) -> tuple[int, float]:
        """The number of model calls and US dollars spent on stored answers. Both count towards the budget."""
        return self._kept.paid()

    def close(self) -> None:
        self._kept.close()

    def add_to(self, meter: UsageMeter) -> None:
        """Adds the cost of all stored answers, from every attempt, and of this attempt's failed calls."""
        for made in self._kept.values():
            meter.add(Usage.model_validate(made["usage"]))
        meter.add(self._failed.snapshot(0.0))


def paid_for(answers: Iterable[SharedAnswers], elapsed_s: float) -> Usage:
    """Returns the usage paid for in all attempts. Each answer counts once."""
    meter = UsageMeter()
    for one in answers:
        one.add_to(meter)
    return meter.snapshot(elapsed_s)


def spent_on(answers: Iterable[SharedAnswers], elapsed_s: float) -> Usage:
    meter = UsageMeter()
    for one in answers:
        meter.add(one.spent.snapshot(0.0))
    return meter.snapshot(elapsed_s)
