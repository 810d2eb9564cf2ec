from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factloop.agents.safe.schemas import Assessment, Relevance
from factloop.core.errors import AskedNoFurther, ConfigError, FactloopError, ModelOutputError, ModelRefusal, ToolError
from factloop.tools.calls.blame import chain
from factloop.tools.calls.budget import LEAST_ANSWERS
from factloop.tools.models.gateway import NOT_THE_FIRST, REPAIRS, FreeAnswer
from factloop.tools.models.schema import ToolChoice
from tests.tools.models.chat_server import ChatServer, Reply, called, completion, failure, said
from tests.tools.models.questions import (
    CHOICE,
    STAGE,
    SUPPORTED,
    WISH,
    YES,
    YES_SAID,
    ask,
    assess,
    last_text,
    question,
    shown,
)
from tests.tools.models.talk import Connect, Talk

COST: dict[str, Any] = {"prompt_tokens": 1, "completion_tokens": 1, "approximate": False, "cost_usd": None}
REPLY: dict[str, Any] = {
    **dict.fromkeys(("refusal", "prompt_tokens", "completion_tokens")), "text": "", "tool_calls": [], "cut_off": False
}  # fmt: skip


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


EDITED: list[tuple[str, Any]] = [
    *[("mode", "odd"), ("mode", []), ("cost", None), ("cost", {}), ("reply", None), ("reply", []), ("reply", {})],
    *[("cost", {**COST, "cost_usd": "5"}), ("cost", {**COST, "prompt_tokens": -1})],
    *[("reply", {**REPLY, "text": 5}), ("reply", {**REPLY, "model": []}), ("reply", {**REPLY, "tokens": 5})],
    *[("reply", {**REPLY, "tokens": [token]}) for token in (["a", []], ["a", {"a": "b"}], [5, {}])],
    *[("reply", {**REPLY, "tool_calls": 5}), ("reply", {**REPLY, "tool_calls": [{"name": None, "args": {}}]})],
]


@pytest.mark.parametrize(("field", "value"), EDITED)
async def test_a_kept_answer_that_somebody_edited_out_of_shape_is_a_config_error(
    server: ChatServer, connect: Connect, tmp_path: Path, field: str, value: object
) -> None:
    server.will(said(YES_SAID))
    talk = await connect(cache=tmp_path / "calls.sqlite", journal=True)
    await ask(talk)
    with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as database:
        ((key,),) = database.execute("SELECT key FROM answers").fetchall()
    kept = talk.cache.get(key)
    assert kept is not None
    talk.cache.put(key, {**kept.value, field: value})
    with pytest.raises(ConfigError, match=rf"the stored answer {key[:16]} is damaged"):
        await ask(talk)
    talk.cache.put(key, kept.value)
    assert await ask(talk) == YES
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
        *(("web", plain, "") for plain in ("[]", '"text"', "5", "null")),
        ("web", "{}", "the call to 'web' must provide at least one of: missing, queries"),
        ("web", '{"query": "x"}', "the call to 'web' must provide at least one of: missing, queries"),
        ("web", '{"queries": [" "], "missing": ""}', "'web' must provide at least one of: missing, queries"),
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
    assert not said_to_model or name in server.bodies[1]["messages"][2]["content"]


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


READ = Relevance(reason="read", relevant=True)


def refuse_read(answer: Any) -> None:
    if answer == READ:
        raise ModelOutputError("give a reason", schema="Relevance", reply="yes")


async def test_text_that_is_read_must_be_accepted_as_well(server: ChatServer, connect: Connect) -> None:
    server.will(said("yes"), said(YES_SAID))
    talk = await connect()
    asked: Any = {"stage": STAGE, "meter": talk.meter, "top_logprobs": 0, "accept": refuse_read}
    read = {"yes": READ}.get
    assert (await talk.gateway.ask_graded(question(), Relevance, read_text=read, **asked)).value == YES
    assert "give a reason" in server.bodies[1]["messages"][3]["content"]


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


async def test_a_model_that_thinks_to_the_limit_is_told_from_a_silent_one(server: ChatServer, connect: Connect) -> None:
    server.will(completion({"content": ""}, finish="length"))
    with pytest.raises(ModelOutputError, match="token limit was reached"):
        await ask_freely(await connect())


@pytest.mark.parametrize("usage", [None, (0, 0), (10**10, 20), (-1, 20)])
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


async def test_no_error_of_a_library_escapes(server: ChatServer, connect: Connect) -> None:
    bodies = [b"", b"{", b"[]", b"null", b'{"choices": [{}]}', b'{"choices": [{"message": null}]}', b"\xff\xfe"]
    for body in bodies:
        server.follow(lambda _, body=body: Reply(body=body))  # type: ignore[misc]
        with pytest.raises(FactloopError) as caught:
            await ask(await connect())
        causes = [one for one in chain(caught.value) if not isinstance(one, FactloopError)]
        assert not any(one.__traceback__ for one in causes), "a traceback keeps the reply, which may be long, in memory"


LATE_S = 0.2


def late(reply: Reply) -> Reply:
    return replace(reply, delay_s=LATE_S)


async def burst(talk: Talk, n_calls: int) -> list[object]:
    return await asyncio.gather(*(ask(talk, f"number {n}") for n in range(n_calls)), return_exceptions=True)


REFUSALS = [failure(status, "No such thing.") for status in (401, 403, 404)]
ELSEWHERE = Reply(307, headers=(("Location", "http://127.0.0.2:9/v1"),))


@pytest.mark.parametrize("refusal", [*REFUSALS, ELSEWHERE])
async def test_where_no_request_is_accepted_the_set_up_is_to_blame(
    server: ChatServer, connect: Connect, refusal: Reply
) -> None:
    server.will(refusal, *[late(refusal)] * 4)
    told = await burst(await connect(), 5)
    assert {type(error) for error in told} == {ConfigError}
    (words,) = {str(error) for error in told}
    cause = "redirects to another server, 127.0.0.2" if refusal is ELSEWHERE else "No such thing."
    assert words.endswith(f"{cause}; check the API key, the base URL and, for a model, its name")


@pytest.mark.parametrize("refusal", [*REFUSALS, ELSEWHERE])
async def test_where_one_is_accepted_it_is_not_however_late_that_one_is(
    server: ChatServer, connect: Connect, refusal: Reply
) -> None:
    """The refusal arrives before the answer and must not end the run."""
    server.will(late(said(YES_SAID)), *[refusal] * 3)
    talk = await connect()
    slow = asyncio.create_task(ask(talk, "slow"))
    await server.asked.wait()
    assert [type(one) for one in await burst(talk, 3)] == [ToolError] * 3
    assert await slow == YES


async def test_a_model_whose_answers_cannot_be_read_stops_alone(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda body: said("no" if body["model"] == "small" else YES_SAID))
    small, large = await connect(name="small", concurrency=1), await connect(name="large")
    large.meter = small.meter
    small.meter.allowance.max_unreadable = 0.3
    told = await burst(small, 2 * LEAST_ANSWERS)
    assert await burst(large, 2) == [YES] * 2
    assert isinstance(told[-1], AskedNoFurther)
    assert str(told[-1]).startswith("openai:small: ")
    # Repairs go ahead of first requests: else all of these and their first repairs would be sent before any last one.
    n_sent = sum(body["model"] == "small" for body in server.bodies)
    assert n_sent <= (1 + REPAIRS) * (LEAST_ANSWERS + 2)


@pytest.mark.parametrize("concurrency", [1, 4, None])
async def test_answers_that_the_last_repair_makes_readable_are_readable(
    server: ChatServer, connect: Connect, concurrency: int | None
) -> None:
    server.follow(lambda body: said(YES_SAID if NOT_THE_FIRST in last_text(body) else "no"))
    talk = await connect(concurrency=concurrency)
    talk.meter.allowance.max_unreadable = 0.3
    assert await burst(talk, 2 * LEAST_ANSWERS) == [YES] * 2 * LEAST_ANSWERS
