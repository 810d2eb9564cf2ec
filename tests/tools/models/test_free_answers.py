"""Answers in the model's own words: nothing but the prompt is sent, and nothing but words counts as an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import BudgetExceeded, FactloopError, ModelOutputError, ModelRefusal, ToolError
from factloop.tools.models.gateway import FreeAnswer
from factloop.tools.models.prices import Price
from tests.tools.models.chat_server import ChatServer, Reply, completion, failure, said
from tests.tools.models.questions import STAGE, YES_SAID, ask
from tests.tools.models.talk import Connect, Talk

PROMPT = 'What is known about the Ghost Orchid? {"not": "a schema"} {{nor_a_template}}'
FILTERED = completion({"content": ""}, finish="content_filter")


async def ask_freely(talk: Talk, prompt: str = PROMPT) -> FreeAnswer:
    return await talk.gateway.ask_freely(prompt, stage=STAGE, meter=talk.meter)


async def test_the_prompt_alone_is_sent(server: ChatServer, connect: Connect) -> None:
    server.will(said("  It has no leaves.\n", usage=(9, 5)))
    talk = await connect(price=Price(1.0, 2.0))
    assert await ask_freely(talk) == FreeAnswer("  It has no leaves.\n", cut_off=False)
    (body,) = server.bodies
    assert body["messages"] == [{"role": "user", "content": PROMPT}]
    assert not {"tools", "tool_choice", "response_format"} & set(body)
    usage = talk.meter.snapshot(0.0)
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (1, 9, 5)
    assert usage.cost_usd == pytest.approx((9 * 1.0 + 5 * 2.0) / 1e6)


@pytest.mark.parametrize("words", ["I cannot help with that.", '{"reason": "x"}', "No."])
async def test_any_words_are_an_answer(server: ChatServer, connect: Connect, words: str) -> None:
    server.will(said(words))
    assert (await ask_freely(await connect())).text == words


async def test_an_answer_cut_off_says_so(server: ChatServer, connect: Connect) -> None:
    server.will(completion({"content": "It has no"}, finish="length"))
    assert await ask_freely(await connect()) == FreeAnswer("It has no", cut_off=True)


async def test_the_same_is_asked_once_and_is_not_the_same_as_with_a_schema(
    server: ChatServer, connect: Connect, tmp_path: Path
) -> None:
    server.will(said("Freely."), said(YES_SAID))
    talk = await connect(cache=tmp_path / "calls.sqlite")
    assert await ask_freely(talk) == await ask_freely(talk)
    await ask(talk, PROMPT)
    assert await ask_freely(await connect(cache=tmp_path / "calls.sqlite")) == FreeAnswer("Freely.", cut_off=False)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (said(" \n"), ModelOutputError),
        (completion({"content": None}), ModelOutputError),
        (FILTERED, ModelRefusal),
        (completion({"content": "", "refusal": "I can't."}), ModelRefusal),
    ],
    ids=["blank", "nothing", "filter", "refusal"],
)
async def test_no_words_are_no_answer_and_are_asked_for_again(
    server: ChatServer, connect: Connect, reply: Reply, error: type[FactloopError]
) -> None:
    server.will(reply, said("Now."))
    talk = await connect()
    with pytest.raises(error):
        await ask_freely(talk)
    assert (await ask_freely(talk)).text == "Now."


async def test_a_model_that_thinks_up_to_the_limit_is_told_from_a_silent_one(
    server: ChatServer, connect: Connect
) -> None:
    server.will(completion({"content": ""}, finish="length"))
    with pytest.raises(ModelOutputError, match="token limit was reached"):
        await ask_freely(await connect())


async def test_a_refused_request_is_an_error_that_spoils_nothing(server: ChatServer, connect: Connect) -> None:
    server.will(said("First."), failure(400, "too long"), said("Third."), said(YES_SAID))
    talk = await connect()
    await ask_freely(talk, "one")
    with pytest.raises(ToolError):
        await ask_freely(talk, "two")
    await ask_freely(talk, "three")
    await ask(talk)
    assert "response_format" in server.bodies[-1]


async def test_the_budget_counts_a_whole_answer(connect: Connect) -> None:
    # 1,024 tokens at most of a reply at a dollar each: 1,000 USD are not enough.
    talk = await connect(price=Price(0.0, 1e6), max_usd=1000.0)
    with pytest.raises(BudgetExceeded):
        await ask_freely(talk)
