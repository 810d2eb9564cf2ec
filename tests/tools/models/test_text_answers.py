"""Answers read out of replies that do not follow the schema, in every mode and before any repair turn."""

from __future__ import annotations

from typing import Any

from factloop.agents.safe.schemas import Relevance
from factloop.core.errors import ModelOutputError
from tests.tools.models.chat_server import ChatServer, said
from tests.tools.models.questions import STAGE, YES, YES_SAID, question
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


async def test_text_that_is_read_must_be_accepted_as_well(server: ChatServer, connect: Connect) -> None:
    server.will(said("yes"), said(YES_SAID))
    assert await ask_text(await connect(), accept=refuse_read) == YES
    assert "give a reason" in server.bodies[1]["messages"][3]["content"]
