"""Replies of a model through the gateway: an answer, a repair turn, a refusal; never a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.agents.safe.schemas import Assessment
from factloop.core.errors import FactloopError, ModelOutputError, ModelRefusal
from factloop.tools.models.gateway import LONGEST_SHOWN_REPLY, NOT_THE_FIRST
from factloop.tools.models.offers import ToolChoice
from tests.tools.models.chat_server import ChatServer, Reply, called, completion, failure, said
from tests.tools.models.questions import CHOICE, SUPPORTED, WISH, YES, YES_SAID, ask, assess, shown
from tests.tools.models.talk import Connect


async def test_a_repair_turn_shows_the_reply_and_its_error(server: ChatServer, connect: Connect) -> None:
    server.will(said({"reason": "x", "relevant": "maybe"}), said(YES_SAID))
    talk = await connect()
    assert await ask(talk) == YES
    first, second = (body["messages"] for body in server.bodies)
    assert second[:2] == first
    assert [message["role"] for message in second] == ["system", "user", "assistant", "user"]
    assert second[2]["content"] == shown({"reason": "x", "relevant": "maybe"})
    assert "relevant: Input should be a valid boolean" in second[3]["content"]
    usage = talk.meter.snapshot(0.0)
    assert (usage.calls, usage.failed_calls, usage.prompt_tokens) == (2, 0, 200)


async def test_half_an_emoji_in_a_reply_is_repaired_too(server: ChatServer, connect: Connect) -> None:
    server.will(said("Sure \ud83d no"), said(YES_SAID))
    assert await ask(await connect()) == YES
    assert server.bodies[1]["messages"][2]["content"] == "Sure ? no"


async def test_a_second_repair_turn_shows_the_second_reply_alone(server: ChatServer, connect: Connect) -> None:
    server.will(said("no"), said({"reason": "x", "relevant": "maybe"}), said(YES_SAID))
    assert await ask(await connect()) == YES
    first, second, third = (body["messages"] for body in server.bodies)
    assert third[:2] == first
    assert [message["role"] for message in third] == ["system", "user", "assistant", "user"]
    assert third[2]["content"] == shown({"reason": "x", "relevant": "maybe"})
    assert "relevant: Input should be a valid boolean" in third[3]["content"]
    assert [NOT_THE_FIRST in body[3]["content"] for body in (second, third)] == [False, True]


async def test_a_model_that_says_the_same_is_not_asked_the_same(server: ChatServer, connect: Connect) -> None:
    server.will(*[said("no")] * 2, said(YES_SAID))
    assert await ask(await connect()) == YES
    assert len({shown(body) for body in server.bodies}) == 3


async def test_a_third_failure_is_the_end(server: ChatServer, connect: Connect) -> None:
    server.will(said("no"), said("still no"), said("no, no"))
    talk = await connect()
    with pytest.raises(ModelOutputError) as caught:
        await ask(talk)
    assert not isinstance(caught.value, ModelRefusal)
    assert (caught.value.schema, caught.value.reply) == ("Relevance", "no, no")
    assert talk.meter.snapshot(0.0).calls == 3


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


async def test_a_long_bad_reply_is_shown_shortened(server: ChatServer, connect: Connect) -> None:
    server.will(said("x" * 100_000), said(YES_SAID))
    await ask(await connect())
    assert len(server.bodies[1]["messages"][2]["content"]) == LONGEST_SHOWN_REPLY


async def test_an_empty_reply_is_repaired(server: ChatServer, connect: Connect) -> None:
    server.will(said(""), said(YES_SAID))
    assert await ask(await connect()) == YES
    assert server.bodies[1]["messages"][2]["content"] == "(empty)"


@pytest.mark.parametrize("reply", [said(YES_SAID, finish="length"), said('{"reason": "Sa', finish="length")])
async def test_a_reply_cut_off_is_told_so(server: ChatServer, connect: Connect, reply: Reply) -> None:
    server.will(reply, said(YES_SAID))
    assert await ask(await connect()) == YES
    assert "cut off at the token limit" in server.bodies[1]["messages"][3]["content"]


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
        ("web", '{"queries": "x", "missing": ""}', "queries: Input should be a valid array"),
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


async def test_hostile_text_arrives_as_it_is(server: ChatServer, connect: Connect) -> None:
    hostile = "{{ 6*7 }} {% if x %} [KNOWLEDGE] </response> <script> \x1b[31m \x00 \u202e " + "x" * 1_000_000
    server.will(said(YES_SAID))
    await ask(await connect(), hostile)
    assert server.bodies[0]["messages"][1]["content"] == f"<fact>{hostile}</fact>"


async def test_text_that_is_no_unicode_is_an_error_of_ours(connect: Connect) -> None:
    with pytest.raises(FactloopError):
        await ask(await connect(), "\ud800")
