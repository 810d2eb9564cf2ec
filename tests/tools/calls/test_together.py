from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from factloop.tools.calls.together import as_they_come, together
from tests.tools.calls.virtual_time import in_virtual_time, run_in_virtual_time


class Calls:
    """Each call takes that many seconds; negative ones fail after as many."""

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


def test_the_first_to_fail_stops_the_others() -> None:
    calls = Calls()
    with pytest.raises(LookupError, match="-1"):
        run_in_virtual_time(together(calls.take(seconds) for seconds in (5, -1, -2, 9)))
    assert (calls.cancelled, calls.under_way) == (3, 0)


@in_virtual_time
async def test_results_come_as_they_are_there_with_so_many_at_once() -> None:
    calls = Calls()
    assert [result async for result in as_they_come((4, 1, 1, 5), calls.take, at_once=2)] == [1, 1, 4, 5]
    assert calls.most == 2


@in_virtual_time
async def test_neither_an_error_nor_who_stops_early_leaves_a_call_behind() -> None:
    for takes, n_begun in (((1, -2, 9, 9, 9), 4), ((1, 9, 9, 9), 3)):
        calls = Calls()
        async with aclosing(as_they_come(takes, calls.take, at_once=3)) as done:
            assert await anext(done) == 1
            if -2 in takes:
                with pytest.raises(LookupError):
                    await anext(done)
        assert (calls.begun, calls.cancelled, calls.under_way) == (n_begun, 2, 0)
