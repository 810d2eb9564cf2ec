from __future__ import annotations

import asyncio

import pytest

from factloop.core.errors import BudgetExceeded, DeadlineExceeded, ToolError
from factloop.tools.calls.together import SingleFlight


class Call:
    """A call that can be held open, and counts how often it was made."""

    def __init__(self, outcome: int | Exception = 7) -> None:
        self.made, self.outcome, self.gate = 0, outcome, asyncio.Event()

    async def __call__(self) -> int:
        self.made += 1
        await self.gate.wait()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


async def started(*tasks: asyncio.Task[tuple[int, bool]]) -> None:
    """Lets the tasks run as far as they get."""
    for _ in range(5):
        await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)


async def test_overlapping_calls_are_made_once() -> None:
    flights, call = SingleFlight[int](), Call()
    tasks = [asyncio.create_task(flights.do("key", call)) for _ in range(50)]
    await started(*tasks)
    call.gate.set()
    results = await asyncio.gather(*tasks)
    assert call.made == 1
    assert [value for value, _ in results] == [7] * 50
    assert sorted(shared for _, shared in results) == [False] + [True] * 49


async def test_other_keys_and_later_calls_fly_themselves() -> None:
    flights, call = SingleFlight[int](), Call()
    call.gate.set()
    await asyncio.gather(flights.do("one", call), flights.do("two", call))
    assert await flights.do("one", call) == (7, False)
    assert call.made == 3


async def test_an_error_is_shared_and_then_forgotten() -> None:
    flights, call = SingleFlight[int](), Call(ToolError("down", tool="model"))
    tasks = [asyncio.create_task(flights.do("key", call)) for _ in range(3)]
    await started(*tasks)
    call.gate.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ToolError] * 3
    call.outcome = 7
    assert await flights.do("key", call) == (7, False)
    assert call.made == 2


async def test_when_the_leader_is_cancelled_a_follower_flies() -> None:
    flights, call = SingleFlight[int](), Call()
    leader, *followers = [asyncio.create_task(flights.do("key", call)) for _ in range(3)]
    await started(leader, *followers)
    leader.cancel()
    await started(*followers)
    assert call.made == 2
    call.gate.set()
    assert sorted(await asyncio.gather(*followers)) == [(7, False), (7, True)]
    assert leader.cancelled()


@pytest.mark.parametrize("error", [BudgetExceeded("2 calls", "this check"), DeadlineExceeded(3.0)])
async def test_what_one_check_may_take_ends_its_leader_alone(error: Exception) -> None:
    flights, spent, call = SingleFlight[int](), Call(error), Call()
    leader = asyncio.create_task(flights.do("key", spent))
    followers = [asyncio.create_task(flights.do("key", call)) for _ in range(3)]
    await started(leader, *followers)
    spent.gate.set()
    with pytest.raises(type(error)):
        await leader
    await started(*followers)
    call.gate.set()
    assert sorted(await asyncio.gather(*followers)) == [(7, False), (7, True), (7, True)]
    assert (spent.made, call.made) == (1, 1)


async def test_the_budget_of_the_whole_run_ends_all() -> None:
    flights, call = SingleFlight[int](), Call(BudgetExceeded("2 calls"))
    tasks = [asyncio.create_task(flights.do("key", call)) for _ in range(3)]
    await started(*tasks)
    call.gate.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [BudgetExceeded] * 3
    assert call.made == 1


async def test_a_follower_is_cancelled_alone() -> None:
    flights, call = SingleFlight[int](), Call()
    leader, follower = [asyncio.create_task(flights.do("key", call)) for _ in range(2)]
    await started(leader, follower)
    follower.cancel()
    call.gate.set()
    assert await leader == (7, False)
    with pytest.raises(asyncio.CancelledError):
        await follower


async def test_cancelling_everybody_ends_everybody() -> None:
    flights, call = SingleFlight[int](), Call()
    tasks = [asyncio.create_task(flights.do("key", call)) for _ in range(4)]
    await started(*tasks)
    for task in tasks:
        task.cancel()
    done, pending = await asyncio.wait(tasks, timeout=1.0)
    assert not pending
    assert all(task.cancelled() for task in done)
    assert call.made == 1
