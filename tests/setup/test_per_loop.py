"""Objects of event loops: shared by their users, closed when none is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from factloop.setup.per_loop import PerLoop


class Connection:
    """Counts how often it was closed."""

    def __init__(self) -> None:
        self.n_closed = 0

    async def aclose(self) -> None:
        self.n_closed += 1
        await asyncio.sleep(0)


async def test_what_is_in_use_is_closed_at_the_end_of_its_last_use() -> None:
    connections: PerLoop[Connection] = PerLoop()
    async with connections.used(Connection) as first:
        async with connections.used(Connection) as same:
            assert same is first
            await connections.aclose()
        assert first.n_closed == 0
    assert first.n_closed == 1


async def test_after_it_was_closed_there_is_another() -> None:
    connections: PerLoop[Connection] = PerLoop()
    async with connections.used(Connection) as first:
        await connections.aclose()
        async with connections.used(Connection) as second:
            assert second is not first
    assert (first.n_closed, second.n_closed) == (1, 0), "the end of the first leaves the second open"
    assert await connections.open(Connection) is second
    await connections.aclose()
    await connections.aclose()
    assert second.n_closed == 1


def test_what_was_left_open_is_closed_at_the_end_of_its_loop() -> None:
    connections: PerLoop[Connection] = PerLoop()
    use = connections.used(Connection)

    async def leave_one_in_use() -> tuple[Connection, Connection]:
        in_use = await use.__aenter__()
        await connections.aclose()
        return in_use, await connections.open(Connection)

    in_use, left = asyncio.run(leave_one_in_use())
    assert (in_use.n_closed, left.n_closed) == (1, 1)


def test_a_reader_that_leaves_a_stream_without_closing_it_leaves_nothing_open() -> None:
    connections: PerLoop[Connection] = PerLoop()
    seen: list[Connection] = []

    async def numbers() -> AsyncIterator[int]:
        async with connections.used(Connection) as one:
            seen.append(one)
            yield 1

    async def read() -> None:
        async for _ in numbers():
            break
        await connections.aclose()

    asyncio.run(read())
    assert [one.n_closed for one in seen] == [1]
