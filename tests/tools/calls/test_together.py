"""Several calls at a time: their order, how many are under way, and that none outlives the caller."""

from __future__ import annotations

import asyncio
import gc
from contextlib import aclosing
from typing import Any

import pytest

from factloop.tools.calls.together import as_they_come, together
from tests.tools.calls.virtual_time import run_in_virtual_time


class Calls:
    """Calls that take so many seconds; negative ones fail after as many."""

    def __init__(self) -> None:
        self.under_way = self.most = self.cancelled = self.begun = 0

    async def take(self, seconds: float) -> float:
        self.begun += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(abs(seconds))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.under_way -= 1
        if seconds < 0:
            raise LookupError(seconds)
        return seconds


def test_results_come_in_the_order_of_the_calls() -> None:
    calls = Calls()
    assert run_in_virtual_time(together(calls.take(seconds) for seconds in (3, 1, 2))) == [3, 1, 2]
    assert calls.most == 3


def test_no_calls_have_no_results() -> None:
    assert run_in_virtual_time(together([])) == []


def test_the_first_to_fail_stops_the_others() -> None:
    calls = Calls()
    with pytest.raises(LookupError, match="-1"):
        run_in_virtual_time(together(calls.take(seconds) for seconds in (5, -1, -2, 9)))
    assert (calls.cancelled, calls.under_way) == (3, 0)


def test_a_caller_that_is_cancelled_leaves_no_call_behind() -> None:
    calls = Calls()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(together(calls.take(9) for _ in range(3)), timeout=1)
        assert (calls.cancelled, calls.under_way) == (3, 0)

    run_in_virtual_time(main())


def test_results_come_as_they_are_there_with_so_many_at_once() -> None:
    calls = Calls()

    async def main() -> list[float]:
        return [result async for result in as_they_come((4, 1, 1, 5), calls.take, at_once=2)]

    assert run_in_virtual_time(main()) == [1, 1, 4, 5]
    assert calls.most == 2


def test_nothing_to_do_yields_nothing() -> None:
    async def main() -> list[float]:
        return [result async for result in as_they_come((), Calls().take, at_once=2)]

    assert run_in_virtual_time(main()) == []


def test_the_first_error_ends_all() -> None:
    calls, seen = Calls(), list[float]()

    async def main() -> None:
        async with aclosing(as_they_come((1, -2, 9, 9, 9), calls.take, at_once=3)) as done:
            async for result in done:
                seen.append(result)

    with pytest.raises(LookupError):
        run_in_virtual_time(main())
    assert seen == [1]
    assert (calls.begun, calls.cancelled, calls.under_way) == (4, 2, 0)


@pytest.mark.parametrize("seconds", [(-1, 1, 1, 1), (1, 1, -1, 1), (1, 1, 1, -1)])
def test_results_that_come_with_an_error_are_not_lost(seconds: tuple[float, ...]) -> None:
    seen = list[float]()

    async def main() -> None:
        async with aclosing(as_they_come(seconds, Calls().take, at_once=4)) as done:
            async for result in done:
                seen.append(result)

    with pytest.raises(LookupError):
        run_in_virtual_time(main())
    assert seen == [1, 1, 1]


def test_errors_that_come_together_are_all_seen() -> None:
    """Else asyncio complains of the others when they are collected."""
    complaints: list[dict[str, Any]] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        async with aclosing(as_they_come((-1, -1, -1), Calls().take, at_once=3)) as done:
            await anext(done)

    with pytest.raises(LookupError):
        run_in_virtual_time(main())
    gc.collect()
    assert complaints == []


def test_who_stops_early_leaves_no_call_behind() -> None:
    calls = Calls()

    async def main() -> None:
        async with aclosing(as_they_come((1, 9, 9, 9), calls.take, at_once=3)) as done:
            async for _ in done:
                break
        assert (calls.begun, calls.cancelled, calls.under_way) == (3, 2, 0)

    run_in_virtual_time(main())
