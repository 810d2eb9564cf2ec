"""How a model is held to a schema: the strongest way that it takes, found out once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from factloop.core.errors import ToolError
from factloop.tools.models.schema import ToolChoice
from tests.tools.models.chat_server import ChatServer, Json, Reply, called, failure, said
from tests.tools.models.questions import (
    CHOICE,
    SUPPORTED,
    WISH,
    YES,
    YES_SAID,
    ask,
    assess,
    last_text,
    mode_of,
)
from tests.tools.models.talk import Connect


async def test_a_refused_temperature_is_left_out_from_then_on(server: ChatServer, connect: Connect) -> None:
    server.follow(
        lambda body: failure(400, "Unsupported", param="temperature") if "temperature" in body else said(YES_SAID)
    )
    talk = await connect()
    assert await ask(talk, "one") == YES
    assert await ask(talk, "two") == YES
    assert ["temperature" in body for body in server.bodies] == [True, False, False]
    assert [mode_of(body) for body in server.bodies] == ["json_schema"] * 3


async def test_many_first_requests_agree_on_the_mode(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda body: said(SUPPORTED) if mode_of(body) == "text" else failure(400, "not supported"))
    talk = await connect()
    await asyncio.gather(*(assess(talk, text=str(number)) for number in range(10)))
    sent = len(server.bodies)
    await assess(talk, text="later")
    assert len(server.bodies) == sent + 1


@pytest.mark.parametrize("odd", [said("cut", finish="length"), called(("nonsense", {}))])
async def test_a_reply_that_may_be_in_its_form_is_asked_for_in_the_same_mode_again(
    server: ChatServer, connect: Connect, odd: Reply
) -> None:
    server.will(odd, called(("web", WISH)))
    assert await assess(await connect()) == ToolChoice("web", CHOICE)
    assert [mode_of(body) for body in server.bodies] == ["tools", "tools"]


def refusing(
    is_refused: Callable[[Json], bool], *, status: int = 400, param: str | None = None
) -> Callable[[Json], Reply]:
    """A server that refuses requests of a kind, in words that tell nothing."""
    return lambda body: failure(status, "extra_forbidden", param=param) if is_refused(body) else said(YES_SAID)


@pytest.mark.parametrize(
    ("is_refused", "sent"),
    [
        (lambda body: "temperature" in body, {"max_completion_tokens"}),
        (lambda body: "max_completion_tokens" in body, {"temperature", "max_tokens"}),
        (lambda body: {"max_completion_tokens", "max_tokens"} & body.keys(), {"temperature"}),
        (lambda body: body["messages"][0]["role"] == "system", {"temperature", "max_completion_tokens"}),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
async def test_what_a_server_refuses_without_saying_so_is_done_without(
    server: ChatServer, connect: Connect, is_refused: Callable[[Json], bool], sent: set[str], status: int
) -> None:
    server.follow(refusing(is_refused, status=status))
    talk = await connect()
    assert await ask(talk, "one") == YES
    n_sent = len(server.bodies)
    assert await ask(talk, "two") == YES
    last = server.bodies[-1]
    assert len(server.bodies) == n_sent + 1
    assert last.keys() & {"temperature", "max_completion_tokens", "max_tokens"} == sent
    assert mode_of(last) == "json_schema"
    assert "".join(message["content"] for message in last["messages"]).count("two") == 1


async def test_a_setting_that_is_named_is_conceded_at_once(server: ChatServer, connect: Connect) -> None:
    server.follow(refusing(lambda body: "max_completion_tokens" in body, param="max_completion_tokens"))
    assert await ask(await connect()) == YES
    assert ["max_tokens" in body for body in server.bodies] == [False, True]


async def test_a_server_that_has_answered_is_conceded_nothing(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda body: said(YES_SAID) if ">short<" in last_text(body) else failure(400, "too long"))
    talk = await connect()
    await ask(talk, "short")
    with pytest.raises(ToolError, match="too long"):
        await ask(talk, "long")
    assert len(server.bodies) == 4  # in each mode once
