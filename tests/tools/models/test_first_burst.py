"""Refusals in the first burst of calls: whether the set-up is to blame depends on no race."""

from __future__ import annotations

import asyncio

import pytest

from factloop.core.errors import ConfigError, ToolError
from tests.tools.models.chat_server import ChatServer, Reply, failure, said
from tests.tools.models.questions import YES, YES_SAID, ask
from tests.tools.models.talk import Connect, Talk

LATE_S = 0.2


def late(reply: Reply) -> Reply:
    return Reply(reply.status, reply.body, delay_s=LATE_S)


async def burst(talk: Talk, n_calls: int) -> list[object]:
    return await asyncio.gather(*(ask(talk, f"number {n}") for n in range(n_calls)), return_exceptions=True)


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_where_no_request_is_accepted_the_set_up_is_to_blame(
    server: ChatServer, connect: Connect, status: int
) -> None:
    refusal = failure(status, "No such thing.")
    server.will(refusal, *[late(refusal)] * 4)
    told = await burst(await connect(), 5)
    assert {type(error) for error in told} == {ConfigError}
    (words,) = {str(error) for error in told}
    assert words.endswith("No such thing.: check the key, the name and the base URL")


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_where_one_is_accepted_it_is_not_however_late_that_one_is(
    server: ChatServer, connect: Connect, status: int
) -> None:
    """The refusal overtakes the answer, and does not end the run."""
    server.will(late(said(YES_SAID)), *[failure(status, "No such thing.")] * 3)
    talk = await connect()
    slow = asyncio.create_task(ask(talk, "slow"))
    await server.asked.wait()
    assert [type(one) for one in await burst(talk, 3)] == [ToolError] * 3
    assert await slow == YES


async def test_a_failure_that_passes_waits_for_nothing(server: ChatServer, connect: Connect) -> None:
    server.will(Reply(delay_s=3600.0), failure(413, "Too large."))
    talk = await connect()
    slow = asyncio.create_task(ask(talk, "slow"))
    await server.asked.wait()
    with pytest.raises(ToolError, match="Too large"):
        await asyncio.gather(slow, ask(talk, "large"))
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)
