"""Answers in the model's own words: nothing but the prompt is sent, and nothing but words counts as an answer."""

from __future__ import annotations

import pytest

from factloop.core.errors import BudgetExceeded, FactloopError, ModelOutputError, ModelRefusal
from factloop.tools.models.gateway import FreeAnswer
from factloop.tools.models.prices import Price
from tests.tools.models.chat_server import ChatServer, Reply, completion, said
from tests.tools.models.questions import STAGE
from tests.tools.models.talk import Connect, Talk

PROMPT = 'What is known about the Ghost Orchid? {"not": "a schema"} {{nor_a_template}}'
FILTERED = completion({"content": ""}, finish="content_filter")


async def ask_freely(talk: Talk, prompt: str = PROMPT) -> FreeAnswer:
    return await talk.gateway.ask_freely(prompt, stage=STAGE, meter=talk.meter)


async def test_an_answer_cut_off_says_so(server: ChatServer, connect: Connect) -> None:
    server.will(completion({"content": "It has no"}, finish="length"))
    assert await ask_freely(await connect()) == FreeAnswer("It has no", cut_off=True)


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


async def test_the_budget_counts_a_whole_answer(connect: Connect) -> None:
    # 1,024 tokens at most of a reply at a dollar each: 1,000 USD are not enough.
    talk = await connect(price=Price(0.0, 1e6), max_usd=1000.0)
    with pytest.raises(BudgetExceeded):
        await ask_freely(talk)
