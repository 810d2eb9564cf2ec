"""How a model is held to a schema: the strongest way that it takes, found out once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from factloop.agents.safe.schemas import Assessment, SearchCall
from factloop.core.errors import ToolError
from factloop.tools.models.offers import ToolChoice
from factloop.tools.models.schema import loosened, strict_schema, tool_parameters
from tests.tools.models.chat_server import ChatServer, Json, Reply, called, failure, said
from tests.tools.models.questions import (
    CHOICE,
    OPEN,
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

LADDER = ["tools", "json_schema", "json_mode", "text"]


def knowing(*modes: str, answer: Json) -> Callable[[Json], Reply]:
    """A server that refuses the modes it does not know with a 400."""
    return lambda body: said(answer) if mode_of(body) in modes else failure(400, f"{mode_of(body)} is not supported")


async def test_a_schema_is_sent_as_the_server_expects_it(server: ChatServer, connect: Connect) -> None:
    server.will(said(YES_SAID))
    assert await ask(await connect()) == YES
    (body,) = server.bodies
    assert body["model"] == "scripted"
    assert body["temperature"] == 0.1
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "Relevance",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"reason": {"type": "string"}, "relevant": {"type": "boolean"}},
                "required": ["reason", "relevant"],
                "additionalProperties": False,
            },
        },
    }
    assert not body.get("stream")
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert server.paths == ["/v1/chat/completions"]


async def test_tools_are_offered_beside_the_answer(server: ChatServer, connect: Connect) -> None:
    server.will(called(("Assessment", SUPPORTED)))
    answer = await assess(await connect(), "web", "documents")
    assert answer == Assessment.model_validate(SUPPORTED)
    (body,) = server.bodies
    assert [tool["function"]["name"] for tool in body["tools"]] == ["web", "documents", "Assessment"]
    parameters = [tool_parameters(SearchCall)] * 2 + [loosened(strict_schema(Assessment))]
    assert [tool["function"]["parameters"] for tool in body["tools"]] == parameters
    assert not any("strict" in tool["function"] for tool in body["tools"])
    assert (body["tool_choice"], body["parallel_tool_calls"]) == ("required", False)
    assert "response_format" not in body


async def test_a_call_of_a_tool_is_a_choice(server: ChatServer, connect: Connect) -> None:
    server.will(called(("web", WISH)))
    assert await assess(await connect()) == ToolChoice("web", CHOICE)


async def test_of_several_calls_the_first_counts(server: ChatServer, connect: Connect) -> None:
    server.will(called(("documents", WISH), ("Assessment", SUPPORTED)))
    chosen = await assess(await connect(), "web", "documents")
    assert isinstance(chosen, ToolChoice)
    assert chosen.name == "documents"


@pytest.mark.parametrize("weakest", range(4))
async def test_each_way_down_the_ladder(server: ChatServer, connect: Connect, weakest: int) -> None:
    server.follow(knowing(LADDER[weakest], answer={**OPEN, **WISH}) if weakest else lambda _: called(("web", WISH)))
    talk = await connect()
    assert await assess(talk, text="one") == ToolChoice("web", CHOICE)
    assert [mode_of(body) for body in server.bodies] == LADDER[: weakest + 1]
    assert await assess(talk, text="two") == ToolChoice("web", CHOICE)
    assert [mode_of(body) for body in server.bodies[weakest + 1 :]] == [LADDER[weakest]]
    usage = talk.meter.snapshot(0.0)
    assert (usage.calls, usage.failed_calls) == (2, weakest)


@pytest.mark.parametrize("mode", ["json_mode", "text"])
async def test_where_the_server_is_not_given_the_schema_the_prompt_carries_it(
    server: ChatServer, connect: Connect, mode: str
) -> None:
    server.follow(knowing(mode, answer=YES_SAID))
    assert await ask(await connect()) == YES
    assert '"additionalProperties": false' in last_text(server.bodies[-1])
    assert last_text(server.bodies[-1]).startswith("<fact>")
    assert "additionalProperties" not in last_text(server.bodies[0])


async def test_one_bad_request_does_not_weaken_the_others(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda body: failure(400) if "too long" in str(body["messages"]) else said(YES_SAID))
    talk = await connect()
    with pytest.raises(ToolError) as caught:
        await ask(talk, "too long")
    assert caught.value.status == 400
    assert await ask(talk, "short") == YES
    assert mode_of(server.bodies[-1]) == "json_schema"


async def test_the_error_of_a_bad_request_is_that_of_plain_text(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda body: failure(400, f"refused in {mode_of(body)}"))
    with pytest.raises(ToolError, match="refused in text"):
        await ask(await connect())


@pytest.mark.parametrize("status", [400, 422, 501])
async def test_statuses_that_refuse_a_mode(server: ChatServer, connect: Connect, status: int) -> None:
    server.will(failure(status), said(YES_SAID))
    assert await ask(await connect()) == YES


async def test_a_server_error_is_not_taken_for_a_missing_mode(server: ChatServer, connect: Connect) -> None:
    server.will(failure(500), failure(503), said(YES_SAID))
    assert await ask(await connect()) == YES
    assert [mode_of(body) for body in server.bodies] == ["json_schema"] * 3


async def test_a_server_that_ignores_tools_may_answer_in_text(server: ChatServer, connect: Connect) -> None:
    server.will(said({**OPEN, **WISH}), said(SUPPORTED))
    talk = await connect()
    assert await assess(talk, text="one") == ToolChoice("web", CHOICE)
    assert await assess(talk, text="two") == Assessment.model_validate(SUPPORTED)


@pytest.mark.parametrize(("named", "expected"), [("documents", "documents"), ("web", "web"), ("other", "web")])
async def test_without_tool_calling_the_choice_names_its_tool(
    server: ChatServer, connect: Connect, named: str, expected: str
) -> None:
    server.will(said({**OPEN, **WISH, "tool": named}))
    chosen = await assess(await connect(use_tools=False), "web", "documents")
    assert chosen == ToolChoice(expected, CHOICE)
    schema = server.bodies[0]["response_format"]["json_schema"]
    assert schema["name"] == "Assessment"
    assert schema["schema"]["required"] == [
        "rationale", "cited", "wrong", "verdict", "missing", "queries", "tool",
    ]  # fmt: skip


async def test_a_decided_answer_beside_a_wish_is_an_answer(server: ChatServer, connect: Connect) -> None:
    server.will(said({**SUPPORTED, **WISH}))
    answer = await assess(await connect(use_tools=False))
    assert answer == Assessment.model_validate(SUPPORTED)
    assert type(answer) is Assessment


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
    server.follow(knowing("text", answer=SUPPORTED))
    talk = await connect()
    await asyncio.gather(*(assess(talk, text=str(number)) for number in range(10)))
    sent = len(server.bodies)
    await assess(talk, text="later")
    assert len(server.bodies) == sent + 1


def without_tools(body: Json) -> Reply:
    """As llama.cpp does whose chat template knows no tools: it takes them, required at that, and answers in words."""
    return said("I would look for the tower.") if "tools" in body else said({**OPEN, **WISH})


async def test_a_repair_goes_one_mode_down_where_a_mode_was_not_heeded(server: ChatServer, connect: Connect) -> None:
    server.follow(without_tools)
    talk = await connect()
    assert await assess(talk, text="one") == ToolChoice("web", CHOICE)
    assert await assess(talk, text="two") == ToolChoice("web", CHOICE)
    assert [mode_of(body) for body in server.bodies] == ["tools", "json_schema", "json_schema"]


async def test_many_at_once_lose_nothing_to_a_mode_that_is_not_heeded(server: ChatServer, connect: Connect) -> None:
    server.follow(without_tools)
    talk = await connect()
    answers = await asyncio.gather(*(assess(talk, text=str(number)) for number in range(10)))
    assert answers == [ToolChoice("web", CHOICE)] * 10


@pytest.mark.parametrize("odd", [said("cut", finish="length"), called(("nonsense", {}))])
async def test_a_reply_that_may_be_in_its_form_is_asked_for_in_the_same_mode_again(
    server: ChatServer, connect: Connect, odd: Reply
) -> None:
    server.will(odd, called(("web", WISH)))
    assert await assess(await connect()) == ToolChoice("web", CHOICE)
    assert [mode_of(body) for body in server.bodies] == ["tools", "tools"]


async def test_a_mode_that_was_heeded_outlives_an_odd_reply(server: ChatServer, connect: Connect) -> None:
    server.will(called(("web", WISH)), said("Hm."), called(("web", WISH)))
    talk = await connect()
    for text in ("one", "two"):
        assert await assess(talk, text=text) == ToolChoice("web", CHOICE)
    assert [mode_of(body) for body in server.bodies] == ["tools"] * 3
