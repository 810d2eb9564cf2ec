from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import BudgetExceeded
from factloop.tools.calls.budget import Budget
from tests.tools.calls.virtual_time import in_virtual_time, run_in_virtual_time

# What a call may cost at most, what share of it it does cost, how long it takes, and when it begins.
CALLS = st.lists(
    st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 3.0), st.floats(0.0, 3.0)), max_size=30
)


async def _spend(budget: Budget, calls: Sequence[tuple[float, float, float, float]]) -> tuple[list[float], int]:
    """The costs of the calls that were allowed, and the number that were not."""
    spent, refused = [], 0

    async def one(worst_usd: float, share: float, takes_s: float, begins_s: float) -> None:
        nonlocal refused
        await asyncio.sleep(begins_s)
        try:
            async with budget.reserve(worst_usd) as reservation:
                await asyncio.sleep(takes_s)
                reservation.spent_usd = worst_usd * share
                spent.append(reservation.spent_usd)
        except BudgetExceeded:
            refused += 1

    await asyncio.gather(*(one(*call) for call in calls))
    return spent, refused


@given(CALLS, st.floats(0.0, 5.0), st.integers(0, 20))
def test_no_order_of_calls_overshoots_and_none_waits_for_ever(
    calls: list[tuple[float, float, float, float]], max_usd: float, max_calls: int
) -> None:
    spent, refused = run_in_virtual_time(_spend(Budget(max_calls=max_calls, max_usd=max_usd), calls))
    assert sum(spent) <= max_usd * (1 + 1e-9) + 1e-12
    assert len(spent) <= max_calls
    assert len(spent) + refused == len(calls)


@in_virtual_time
async def test_a_call_waits_for_those_in_flight_to_settle() -> None:
    # Two dollars' worth at worst, one allowed: the second waits until the first has cost only 0.1.
    calls = [(1.0, 0.1, 1.0, 0.0), (0.9, 1.0, 1.0, 0.0), (0.9, 1.0, 1.0, 0.0)]
    spent, refused = await _spend(Budget(max_usd=1.0), calls)
    assert spent == pytest.approx([0.1, 0.9])
    assert refused == 1


@in_virtual_time
async def test_a_cancelled_call_frees_what_it_set_aside_and_wakes_the_next() -> None:
    budget, ended = Budget(max_usd=1.0), list[float]()

    async def one(takes_s: float) -> None:
        async with budget.reserve(1.0):
            await asyncio.sleep(takes_s)
            ended.append(asyncio.get_running_loop().time())

    tasks = [asyncio.create_task(one(takes_s)) for takes_s in (100.0, 100.0, 1.0)]
    await asyncio.sleep(5.0)
    tasks[0].cancel()  # in flight
    tasks[1].cancel()  # waiting
    await asyncio.gather(*tasks, return_exceptions=True)
    assert ended == [6.0]


async def test_calls_of_an_earlier_attempt_count() -> None:
    budget = Budget(max_calls=2, max_usd=1.0)
    budget.note_earlier(1, 0.8)
    with pytest.raises(BudgetExceeded, match="1 USD"):
        async with budget.reserve(0.3):
            pass
    async with budget.reserve(0.2):
        pass
    with pytest.raises(BudgetExceeded, match="2 calls"):
        async with budget.reserve(0.0):
            pass


async def test_a_call_that_was_never_sent_does_not_count() -> None:
    budget = Budget(max_calls=1)

    async def call(*, is_sent: bool) -> None:
        async with budget.reserve(0.0) as reservation:
            reservation.is_unused = not is_sent

    await call(is_sent=False)  # it was cancelled while it waited for its turn
    await call(is_sent=True)
    with pytest.raises(BudgetExceeded):
        await call(is_sent=True)
