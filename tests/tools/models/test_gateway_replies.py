"""Replies of a model through the gateway: an answer, a repair turn, a refusal; never a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.agents.safe.schemas import Assessment
from factloop.core.errors import ModelOutputError, ModelRefusal
from factloop.tools.models.schema import ToolChoice
from tests.tools.models.chat_server import ChatServer, Reply, called, completion, failure, said
from tests.tools.models.questions import CHOICE, SUPPORTED, WISH, YES, YES_SAID, ask, assess, shown
from tests.tools.models.talk import Connect


@pytest.mark.parametrize("journal", [False, True])
async def test_a_conversation_that_led_nowhere_is_the_run_s_record_and_nobody_else_s(
    server: ChatServer, connect: Connect, tmp_path: Path, journal: bool
) -> None:
    server.will(*[said("no")] * 3, *([] if journal else [said(YES_SAID)]))
    for attempt in range(2):
        talk = await connect(cache=tmp_path / "calls.sqlite", journal=journal)
        if journal or attempt == 0:
            with pytest.raises(ModelOutputError):
                await ask(talk)
        else:
            assert await ask(talk) == YES
        assert talk.meter.snapshot(0.0).calls == (3 if journal or attempt == 0 else 1)
        talk.cache.close()


async def test_a_tool_call_cut_off_is_told_so(server: ChatServer, connect: Connect) -> None:
    server.will(called(("Assessment", shown(SUPPORTED)[:30]), finish="length"), called(("Assessment", SUPPORTED)))
    assert await assess(await connect()) == Assessment.model_validate(SUPPORTED)
    assert "cut off at the token limit" in server.bodies[1]["messages"][3]["content"]


@pytest.mark.parametrize(
    ("name", "arguments", "said_to_model"),
    [
        ("browse", shown(WISH), "there is no tool &#x27;browse&#x27;|there is no tool 'browse'"),
        ("web", '{"queries": ', "the arguments of 'web' are not JSON"),
        ("web", "{}", "the call of 'web' gives none of: missing, queries"),
        ("web", '{"query": "x"}', "the call of 'web' gives none of: missing, queries"),
        ("web", '{"queries": [" "], "missing": ""}', "the call of 'web' gives none of: missing, queries"),
        ("web", '{"queries": [5]}', "queries.0: Input should be a valid string"),
        ("Assessment", "{}", "rationale: Field required"),
        ("Assessment", shown({**SUPPORTED, "verdict": "true"}), "verdict: Input should be"),
        ("Assessment", "supported", "the arguments of 'Assessment' are not JSON"),
    ],
)
async def test_a_wrong_call_is_repaired(
    server: ChatServer, connect: Connect, name: str, arguments: str, said_to_model: str
) -> None:
    server.will(called((name, arguments)), called(("web", WISH)))
    talk = await connect()
    assert await assess(talk) == ToolChoice("web", CHOICE)
    repair = server.bodies[1]["messages"][3]["content"]
    assert any(wanted in repair for wanted in said_to_model.split("|"))
    assert name in server.bodies[1]["messages"][2]["content"]


@pytest.mark.parametrize("arguments", ["[]", '"text"', "5", "[1]", "null", "true"])
async def test_arguments_that_are_no_object_are_repaired(server: ChatServer, connect: Connect, arguments: str) -> None:
    server.will(called(("web", arguments)), called(("web", WISH)))
    talk = await connect()
    assert await assess(talk) == ToolChoice("web", CHOICE)
    assert talk.meter.snapshot(0.0).calls == 2


@pytest.mark.parametrize(
    "reply",
    [
        completion({"refusal": "I can't help with that."}),
        completion({"content": ""}, finish="content_filter"),
        failure(400, "filtered", code="content_filter"),
    ],
    ids=["refusal", "stopped by the filter", "refused by the filter"],
)
async def test_a_refusal_is_final(server: ChatServer, connect: Connect, reply: Reply) -> None:
    server.will(reply)
    with pytest.raises(ModelRefusal):
        await ask(await connect())
    assert len(server.bodies) == 1


async def test_a_refusal_of_the_repair_turn_is_a_refusal(server: ChatServer, connect: Connect) -> None:
    server.will(said("no"), completion({"refusal": "I can't."}))
    with pytest.raises(ModelRefusal, match="I can't"):
        await ask(await connect())
