"""How responses are given to workers: the workers are played, what they die of is Ray's own error."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import pytest
from ray.exceptions import RayActorError

from factloop.core.errors import ConfigError, ToolError
from factloop.evaluation.running.on_ray import Pool, Wrong

ROOM = 2


@dataclass(frozen=True)
class Method:
    """Called as a method of an actor is: `await actor.judge.remote(item)`."""

    remote: Callable[..., Awaitable[Any]]


class Actor:
    def __init__(self, dies_of: str = "", opening: Any = None, starts_after_s: float = 0.0) -> None:
        async def open_() -> Any:
            await asyncio.sleep(starts_after_s)
            return opening

        async def judge(item: str) -> str:
            if item in dies_of:
                raise RayActorError
            return item

        self.open, self.judge = Method(open_), Method(judge)


NEVER = 1e6


def pool_of(*actors: Actor) -> Pool[str, str]:
    return Pool(actors, [ROOM] * len(actors), lambda item: f"the response {item!r}")


async def judged_by(pool: Pool[str, str], items: str) -> str:
    async with aclosing(pool.judged(items, started_within_s=0.5)) as judging:
        return "".join(sorted([one async for one in judging]))


@pytest.mark.parametrize(
    "actors",
    [
        [Actor(), Actor()],
        [Actor(dies_of="012345678"), Actor()],
        [Actor(), Actor(starts_after_s=NEVER)],
        [Actor(dies_of="0"), Actor(starts_after_s=0.05)],
    ],
    ids=["two", "one dies", "one never starts", "one dies before the other starts"],
)
async def test_every_response_is_judged_once(actors: list[Actor]) -> None:
    assert await judged_by(pool_of(*actors), "012345678") == "012345678"


@pytest.mark.parametrize(
    ("actors", "error", "said"),
    [
        ([Actor(dies_of="0"), Actor(dies_of="0")], ToolError, "all workers died: .* What was judged is kept"),
        ([Actor(dies_of="2") for _ in range(5)], ToolError, "3 workers died while they judged the response '2'"),
        ([Actor(starts_after_s=NEVER)], ToolError, "no worker was ready within 0.5 s"),
        ([Actor(), Actor(opening=Wrong(is_about_data=False, message="not set up"))], ConfigError, "not set up"),
    ],
)
async def test_what_ends_a_run(actors: list[Actor], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        await judged_by(pool_of(*actors), "012")


async def test_no_more_is_read_than_the_workers_have_room_for() -> None:
    read: list[str] = []

    def items() -> Iterator[str]:
        for number in range(1000):
            read.append(str(number))
            yield read[-1]

    async with aclosing(pool_of(Actor(), Actor()).judged(items())) as judging:
        await anext(judging)
        assert len(read) <= 2 * ROOM
