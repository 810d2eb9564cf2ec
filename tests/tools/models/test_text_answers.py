"""Answers read out of replies that do not follow the schema, in every mode and before any repair turn."""

from __future__ import annotations

from typing import Any

import pytest

from factloop.agents.safe.schemas import Relevance
from factloop.core.errors import ModelOutputError, ModelRefusal
from tests.tools.models.chat_server import ChatServer, Json, Reply, completion, failure, said
from tests.tools.models.questions import STAGE, YES, YES_SAID, ask, mode_of, question
from tests.tools.models.talk import Connect, Talk

READ = Relevance(reason="read", relevant=True)


def read_yes(reply: str) -> Relevance | None:
    return READ if reply.strip().lower() == "yes" else None


def refuse_read(answer: Any) -> None:
    if answer == READ:
        raise ModelOutputError("give a reason", schema="Relevance", reply="yes")


async def ask_text(talk: Talk, text: str = "Is it relevant?", **options: Any) -> Relevance:
    answered = await talk.gateway.ask_graded(
        question(text), Relevance, stage=STAGE, meter=talk.meter, top_logprobs=0, read_text=read_yes, **options
    )
    return answered.value


@pytest.mark.parametrize("modes", [["json_schema"], ["json_mode"], ["text"]])
async def test_text_is_read_in_every_mode_without_a_repair_turn(
    server: ChatServer, connect: Connect, modes: list[str]
) -> None:
    server.follow(lambda body: said("Yes") if mode_of(body) in modes else failure(400))
    talk = await connect()
    assert await ask_text(talk) == READ
    assert talk.meter.snapshot(0.0).calls == 1


async def test_the_schema_comes_first(server: ChatServer, connect: Connect) -> None:
    server.will(said(YES_SAID))
    assert await ask_text(await connect()) == YES


async def test_what_neither_reads_is_repaired_and_then_read(server: ChatServer, connect: Connect) -> None:
    server.will(said("Perhaps"), said("yes"))
    talk = await connect()
    assert await ask_text(talk) == READ
    assert [message["role"] for message in server.bodies[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert server.bodies[1]["messages"][2]["content"] == "Perhaps"


async def test_text_that_is_read_must_be_accepted_as_well(server: ChatServer, connect: Connect) -> None:
    server.will(said("yes"), said(YES_SAID))
    assert await ask_text(await connect(), accept=refuse_read) == YES
    assert "give a reason" in server.bodies[1]["messages"][3]["content"]


async def test_three_unreadable_replies_are_the_end(server: ChatServer, connect: Connect) -> None:
    server.will(said("Perhaps"), said("Possibly"), said("Maybe"))
    with pytest.raises(ModelOutputError) as caught:
        await ask_text(await connect())
    assert caught.value.reply == "Maybe"


@pytest.mark.parametrize(
    "reply",
    [
        completion({"content": "yes", "refusal": "I can't."}),
        completion({"content": "yes"}, finish="content_filter"),
    ],
    ids=["refusal", "filter"],
)
async def test_a_refusal_is_not_read(server: ChatServer, connect: Connect, reply: Reply) -> None:
    server.will(reply)
    with pytest.raises(ModelRefusal):
        await ask_text(await connect())


async def test_a_reply_cut_off_is_not_read(server: ChatServer, connect: Connect) -> None:
    server.will(said("yes", finish="length"), said(YES_SAID))
    assert await ask_text(await connect()) == YES


async def test_a_server_that_heeds_no_schema_but_answers_readably_keeps_its_mode(
    server: ChatServer, connect: Connect
) -> None:
    server.follow(lambda _: said("yes"))
    talk = await connect()
    for number in range(5):
        assert await ask_text(talk, f"question {number}") == READ
    assert [mode_of(body) for body in server.bodies] == ["json_schema"] * 5


async def test_a_kept_reply_is_read_again(server: ChatServer, connect: Connect) -> None:
    server.will(said("yes"), said(YES_SAID))
    talk = await connect()
    assert [await ask_text(talk), await ask_text(talk)] == [READ, READ]
    assert await ask(talk) == YES  # who does not read text sees the same reply, and repairs it
    bodies: list[Json] = server.bodies
    assert [len(body["messages"]) for body in bodies] == [2, 4]
