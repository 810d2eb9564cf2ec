"""The chat-completions endpoint spoken plainly: what is sent, and what odd answers become."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from factloop.core.errors import ConfigError, ModelRefusal, ToolError
from factloop.tools.models.chat import build_chat_model
from factloop.tools.models.completions import speak_plainly
from factloop.tools.models.offers import ToolChoice
from tests.tools.models.chat_server import ChatServer, Json, Reply, called, completion, failure, said
from tests.tools.models.questions import CHOICE, STAGE, WISH, YES, YES_SAID, ask, assess
from tests.tools.models.talk import Connect


def changed(reply: Reply, **fields: Any) -> Reply:
    return Reply(reply.status, json.dumps({**json.loads(reply.body), **fields}).encode())


async def test_what_a_user_s_model_adds_is_sent(server: ChatServer, connect: Connect) -> None:
    server.will(said(YES_SAID))
    model = ChatOpenAI(
        model="mine",
        base_url=server.url,
        api_key="none",  # type: ignore[arg-type]  # pydantic makes it a secret
        max_retries=0,
        use_responses_api=False,
        extra_body={"top_k": 3, "response_format": "overwritten"},
        default_query={"version": "7"},
        model_kwargs={"extra_headers": {"X-Team": "facts"}, "extra_query": {"region": "eu"}},
    )
    speak_plainly(model)
    assert await ask(await connect(model=model)) == YES
    (body,) = server.bodies
    assert (body["model"], body["top_k"]) == ("mine", 3)
    assert body["response_format"]["type"] == "json_schema"
    assert not {"extra_body", "extra_headers", "extra_query"} & body.keys()
    assert server.headers[0]["X-Team"] == "facts"
    assert server.queries == [{"version": "7", "region": "eu"}]


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
        {"prompt_tokens": 1.5, "completion_tokens": "7"},
        {"prompt_tokens": "5", "completion_tokens": "7"},
        {"prompt_tokens": 1e30, "completion_tokens": 3},
        {"prompt_tokens": 10**30, "completion_tokens": 3},
        {"prompt_tokens": -5, "completion_tokens": 20},
        {"prompt_tokens": [], "completion_tokens": {}},
        [100, 20],
        "100",
    ],
    ids=str,
)
async def test_usage_that_is_not_reported_is_estimated(server: ChatServer, connect: Connect, usage: Any) -> None:
    server.will(changed(said(YES_SAID), usage=usage))
    talk = await connect()
    assert await ask(talk) == YES
    counted = talk.meter.snapshot(0.0)
    assert counted.approximate_tokens
    assert 0 < counted.completion_tokens < 100
    assert counted.failed_calls == 0


@pytest.mark.parametrize(
    "odd",
    [
        {"total_tokens": "all"},
        {"prompt_tokens_details": "none"},
        {"completion_tokens_details": [1]},
        {"prompt_tokens_details": {"cached_tokens": "x", "audio_tokens": 0.5}},
        {"cost": {"usd": 0.1}},
    ],
    ids=str,
)
async def test_odd_values_beside_the_counts_take_nothing_from_them(
    server: ChatServer, connect: Connect, odd: Json
) -> None:
    server.will(changed(said(YES_SAID), usage={"prompt_tokens": 100, "completion_tokens": 20, **odd}))
    talk = await connect()
    assert await ask(talk) == YES
    counted = talk.meter.snapshot(0.0)
    assert (counted.prompt_tokens, counted.completion_tokens, counted.approximate_tokens) == (100, 20, False)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"<html><body>Welcome</body></html>", content_type="text/html"),
        Reply(body=b""),
        Reply(body=b"null"),
        Reply(body=b"[]"),
        Reply(body=b'"text"'),
        Reply(body=b'{"choices": null}'),
        Reply(body=b'{"choices": []}'),
        Reply(body=b'{"choices": 5}'),
        Reply(body=b'{"choices": [null]}'),
        Reply(body=b'{"choices": [{"message": "hi"}]}'),
        Reply(body=b'{"error": {"message": "overloaded", "code": 502}}'),
        Reply(body=b'{"error": "overloaded"}'),
    ],
    ids=lambda reply: reply.body.decode()[:40],
)
async def test_a_page_or_an_error_with_a_good_status_may_pass(
    server: ChatServer, connect: Connect, reply: Reply
) -> None:
    server.will(said(YES_SAID), reply, said(YES_SAID))
    talk = await connect()
    await ask(talk, "one")
    assert await ask(talk, "two") == YES  # by another attempt
    assert talk.meter.snapshot(0.0).stages[STAGE].failed_calls == 1


async def test_the_words_of_an_error_with_a_good_status_are_kept(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda _: Reply(body=b'{"error": {"message": "the upstream is overloaded"}}'))
    with pytest.raises(ConfigError, match="the upstream is overloaded"):  # it never answered
        await ask(await connect())


async def test_a_refusal_in_its_field_is_one_whatever_the_text(server: ChatServer, connect: Connect) -> None:
    server.will(completion({"content": json.dumps(YES_SAID), "refusal": "I would rather not."}))
    with pytest.raises(ModelRefusal, match="I would rather not") as caught:
        await ask(await connect())
    assert caught.value.reply == "I would rather not."


@pytest.mark.parametrize("refusal", [None, ""])
async def test_an_empty_refusal_is_none(server: ChatServer, connect: Connect, refusal: str | None) -> None:
    server.will(completion({"content": json.dumps(YES_SAID), "refusal": refusal}))
    assert await ask(await connect()) == YES


async def test_arguments_that_are_a_number_are_repaired(server: ChatServer, connect: Connect) -> None:
    def with_arguments(value: Any) -> Reply:
        body: Json = json.loads(called(("web", WISH)).body)
        body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = value
        return Reply(body=json.dumps(body).encode())

    for value in (5, True, None, WISH):
        server.will(with_arguments(value), called(("web", WISH)))
        assert await assess(await connect(), text=str(value)) == ToolChoice("web", CHOICE)


async def test_content_in_parts_is_one_text(server: ChatServer, connect: Connect) -> None:
    parts = [{"type": "text", "text": '{"reason": "Same subject.",'}, {"type": "text", "text": ' "relevant": true}'}]
    server.will(completion({"content": parts}))
    assert await ask(await connect()) == YES


async def test_the_delay_that_a_server_asks_for_is_kept(
    server: ChatServer, connect: Connect, slept: list[float]
) -> None:
    server.will(failure(503, Retry_After="0.3"), said(YES_SAID))
    assert await ask(await connect()) == YES
    assert 0.3 <= max(slept) < 0.4


async def test_the_library_s_own_retries_stay_off(server: ChatServer, connect: Connect) -> None:
    server.will(said(YES_SAID), failure(400, "bad"), failure(400, "bad"), failure(400, "bad"))
    talk = await connect()
    await ask(talk, "one")
    with pytest.raises(ToolError):
        await ask(talk, "two")  # one request in each of three modes


async def test_a_stream_goes_its_usual_way(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream, as LangGraph asks for it where a caller watches the messages of a graph."""
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    lines = [
        {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]}
        for text in ("King ", "Solomon")
    ]
    body = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
    server.will(Reply(body=body.encode(), content_type="text/event-stream"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    chat = build_chat_model("openai:scripted", base_url=server.url)
    said_in_parts = [str(part.text) async for part in chat.model.astream([HumanMessage("who?")])]
    await chat.aclose()
    assert "".join(said_in_parts) == "King Solomon"
    assert server.bodies[0]["stream"] is True
