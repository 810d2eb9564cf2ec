from __future__ import annotations

import asyncio

import pytest

from factloop.core.errors import BudgetExceeded, DeadlineExceeded, ToolError
from factloop.tools.calls.together import SingleFlight


class Call:
    def __init__(self, outcome: int | Exception = 7) -> None:
        self.made, self.outcome, self.gate = 0, outcome, asyncio.Event()

    async def __call__(self) -> int:
        self.made += 1
        await self.gate.wait()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


Task = asyncio.Task[tuple[int, bool]]


async def begun(flights: SingleFlight[int], *calls: Call) -> list[Task]:
    """Starts all the calls under one key, and runs the tasks as far as they get."""
    tasks = [asyncio.create_task(flights.do("key", call)) for call in calls]
    await settled(*tasks)
    return tasks


async def settled(*tasks: Task) -> None:
    for _ in range(5):
        await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)


async def test_overlapping_calls_are_made_once_and_others_fly_themselves() -> None:
    flights, call = SingleFlight[int](), Call()
    tasks = await begun(flights, *[call] * 50)
    call.gate.set()
    results = await asyncio.gather(*tasks)
    assert call.made == 1
    assert sorted(results) == [(7, False), *[(7, True)] * 49]
    for key in ("key", "other"):
        assert await flights.do(key, call) == (7, False)


@pytest.mark.parametrize("error", [ToolError("down", tool="model"), BudgetExceeded("2 calls")])
async def test_an_error_is_shared_and_then_forgotten(error: Exception) -> None:
    flights, call = SingleFlight[int](), Call(error)
    tasks = await begun(flights, *[call] * 3)
    call.gate.set()
    assert await asyncio.gather(*tasks, return_exceptions=True) == [error] * 3
    call.outcome = 7
    assert await flights.do("key", call) == (7, False)
    assert call.made == 2


async def test_when_the_leader_is_cancelled_a_follower_flies() -> None:
    flights, call = SingleFlight[int](), Call()
    leader, *followers = await begun(flights, *[call] * 3)
    leader.cancel()
    await settled(*followers)
    assert call.made == 2
    call.gate.set()
    assert sorted(await asyncio.gather(*followers)) == [(7, False), (7, True)]
    assert leader.cancelled()


@pytest.mark.parametrize("error", [BudgetExceeded("2 calls", "this check"), DeadlineExceeded(3.0)])
async def test_what_one_check_may_take_ends_its_leader_alone(error: Exception) -> None:
    flights, spent, call = SingleFlight[int](), Call(error), Call()
    leader, *followers = await begun(flights, spent, *[call] * 3)
    spent.gate.set()
    with pytest.raises(type(error)):
        await leader
    await settled(*followers)
    call.gate.set()
    assert sorted(await asyncio.gather(*followers)) == [(7, False), (7, True), (7, True)]
    assert (spent.made, call.made) == (1, 1)


async def test_a_follower_is_cancelled_alone() -> None:
    flights, call = SingleFlight[int](), Call()
    leader, follower = await begun(flights, call, call)
    follower.cancel()
    call.gate.set()
    assert await leader == (7, False)
    with pytest.raises(asyncio.CancelledError):
        await follower


async def test_cancelling_everybody_ends_everybody() -> None:
    flights, call = SingleFlight[int](), Call()
    tasks = await begun(flights, *[call] * 4)
    for task in tasks:
        task.cancel()
    _, pending = await asyncio.wait(tasks, timeout=1.0)
    assert not pending
    assert call.made == 1
