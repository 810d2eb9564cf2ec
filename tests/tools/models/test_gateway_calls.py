"""Calls: their cost, their time limits, and how often they are made."""

from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError, FactloopError
from tests.tools.models.chat_server import ChatServer, Reply, said
from tests.tools.models.questions import ask
from tests.tools.models.talk import Connect


@pytest.mark.parametrize("usage", [None, (0, 0)])
async def test_without_a_report_tokens_are_estimated_and_marked(
    server: ChatServer, connect: Connect, usage: tuple[int, int] | None
) -> None:
    server.will(said('{"reason":"x","relevant":true}', usage=usage))
    talk = await connect()
    await ask(talk)
    counted = talk.meter.snapshot(0.0)
    assert counted.approximate_tokens
    assert counted.completion_tokens == 8  # 30 characters, four a token, rounded up
    assert counted.prompt_tokens == 15  # 32 characters of system and 28 of user: 8 + 7


async def test_a_budget_in_dollars_needs_a_price(connect: Connect) -> None:
    with pytest.raises(ConfigError, match="the price of openai:scripted is unknown"):
        await connect(max_usd=1.0)


async def test_no_error_of_a_library_escapes(server: ChatServer, connect: Connect) -> None:
    bodies = [b"", b"{", b"[]", b"null", b'{"choices": [{}]}', b'{"choices": [{"message": null}]}', b"\xff\xfe"]
    for body in bodies:
        server.follow(lambda _, body=body: Reply(body=body))  # type: ignore[misc]
        with pytest.raises(FactloopError):
            await ask(await connect())
