"""Log-probabilities: asked for where they are wanted, done without where a server refuses, kept with the reply."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from factloop.agents.safe.schemas import Relevance
from factloop.core.errors import ConfigError, ToolError
from factloop.tools.calls.cache import CallCache
from factloop.tools.models.gateway import AnswerWithTokens
from factloop.tools.models.offers import Offers
from factloop.tools.models.wire import ReplyToken
from tests.tools.models.chat_server import ChatServer, Json, Reply, called, failure, said
from tests.tools.models.questions import STAGE, YES, YES_SAID, ask, mode_of, question
from tests.tools.models.talk import Connect, Talk


class Query(BaseModel):
    query: str = ""


TOKENS = [
    {
        "token": "yes",
        "logprob": -0.25,
        "top_logprobs": [{"token": "yes", "logprob": -0.25}, {"token": "no", "logprob": -2}],
    },
    {"token": ".", "logprob": 0, "top_logprobs": []},
]
READ = (ReplyToken("yes", {"yes": -0.25, "no": -2.0}), ReplyToken(".", {".": 0.0}))


def with_logprobs(logprobs: Any, content: Json | str = YES_SAID) -> Reply:
    body = json.loads(said(content).body)
    body["choices"][0]["logprobs"] = logprobs
    return Reply(body=json.dumps(body).encode())


async def graded(talk: Talk, text: str = "Is it relevant?", *, top_logprobs: int = 5) -> AnswerWithTokens[Relevance]:
    return await talk.gateway.ask_graded(
        question(text), Relevance, stage=STAGE, meter=talk.meter, top_logprobs=top_logprobs
    )


def asks(body: Json) -> bool:
    return bool(body.get("logprobs"))


def refusing(refusal: Reply, *, but: Callable[[Json], bool] = asks) -> Callable[[Json], Reply]:
    """A server that takes no log-probabilities."""
    return lambda body: refusal if but(body) else said(YES_SAID)


async def test_they_are_sent_as_openai_s_api_has_them(server: ChatServer, connect: Connect) -> None:
    server.will(with_logprobs({"content": TOKENS}))
    assert await graded(await connect()) == AnswerWithTokens(YES, READ)
    (body,) = server.bodies
    assert (body["logprobs"], body["top_logprobs"]) == (True, 5)
    assert mode_of(body) == "json_schema"


async def test_they_are_sent_only_where_they_are_asked_for(server: ChatServer, connect: Connect) -> None:
    server.will(said(YES_SAID), said(YES_SAID))
    talk = await connect()
    assert await graded(talk, "one", top_logprobs=0) == AnswerWithTokens(YES, ())
    await ask(talk, "two")
    assert not any({"logprobs", "top_logprobs"} & body.keys() for body in server.bodies)


@pytest.mark.parametrize(
    "refusal",
    [
        failure(400, "logprobs are not supported", param="logprobs"),
        failure(400, "logprobs are not supported"),
        failure(403, "You are not allowed to request logprobs"),
        failure(404, "No endpoints found that support logprobs"),
        failure(422, "extra fields not permitted"),
        failure(501),
    ],
    ids=["400 with its field", "400", "403", "404", "422", "501"],
)
async def test_a_server_that_refuses_them_is_asked_without_from_then_on(
    server: ChatServer, connect: Connect, refusal: Reply
) -> None:
    server.follow(refusing(refusal))
    talk = await connect()
    assert await graded(talk, "one") == AnswerWithTokens(YES, ())
    n_tried = sum(asks(body) for body in server.bodies)
    assert 1 <= n_tried <= 3  # in each mode, at worst
    for text in ("two", "three"):
        assert await graded(talk, text) == AnswerWithTokens(YES, ())
    assert sum(asks(body) for body in server.bodies) == n_tried
    assert [mode_of(body) for body in server.bodies if not asks(body)] == ["json_schema"] * 3
    assert talk.meter.snapshot(0.0).failed_calls == n_tried


@pytest.mark.parametrize("param", ["logprobs", "top_logprobs"])
async def test_a_refusal_that_names_them_costs_one_request(server: ChatServer, connect: Connect, param: str) -> None:
    server.follow(refusing(failure(400, "Unsupported parameter", param=param)))
    talk = await connect()
    for text in ("one", "two"):
        assert await graded(talk, text) == AnswerWithTokens(YES, ())
    assert [(asks(body), mode_of(body)) for body in server.bodies] == [
        (True, "json_schema"), (False, "json_schema"), (False, "json_schema"),
    ]  # fmt: skip


async def test_a_server_that_stops_giving_them_is_asked_without(server: ChatServer, connect: Connect) -> None:
    """As behind a router."""
    talk = await connect()
    server.will(with_logprobs({"content": TOKENS}), failure(400, param="logprobs"), said(YES_SAID), said(YES_SAID))
    assert (await graded(talk, "one")).tokens == READ
    assert await graded(talk, "two") == AnswerWithTokens(YES, ())
    assert await graded(talk, "three") == AnswerWithTokens(YES, ())
    assert [asks(body) for body in server.bodies] == [True, True, False, False]


async def offering(talk: Talk, text: str) -> AnswerWithTokens[Any]:
    return await talk.gateway.ask_offering(
        question(text),
        Relevance,
        offers=Offers({"search": "Searches."}, Query, Relevance, lambda one: not one.relevant),
        stage=STAGE,
        meter=talk.meter,
        top_logprobs=5,
    )


async def test_a_tool_call_is_not_asked_for_any_and_says_nothing_about_them(
    server: ChatServer, connect: Connect
) -> None:
    server.follow(
        lambda body: (
            called(("Relevance", YES_SAID)) if body.get("tools") else failure(403) if asks(body) else said(YES_SAID)
        )
    )
    talk = await connect()
    assert await offering(talk, "one") == AnswerWithTokens(YES, ())
    assert await graded(talk, "two") == AnswerWithTokens(YES, ())
    assert [asks(body) for body in server.bodies] == [False, True, False]


async def test_what_is_offered_without_tool_calling_has_them(server: ChatServer, connect: Connect) -> None:
    server.will(with_logprobs({"content": TOKENS}))
    assert await offering(await connect(use_tools=False), "one") == AnswerWithTokens(YES, READ)
    assert asks(server.bodies[0])


async def test_many_first_requests_agree_that_there_are_none(server: ChatServer, connect: Connect) -> None:
    server.follow(refusing(failure(400, param="logprobs")))
    talk = await connect()
    first = await asyncio.gather(*(graded(talk, str(number)) for number in range(10)))
    assert first == [AnswerWithTokens(YES, ())] * 10
    sent = len(server.bodies)
    await graded(talk, "later")
    assert len(server.bodies) == sent + 1
    assert not asks(server.bodies[-1])


async def test_a_server_error_is_no_refusal_of_them(server: ChatServer, connect: Connect) -> None:
    server.will(failure(500), failure(429, retry_after_ms="1"), with_logprobs({"content": TOKENS}))
    assert (await graded(await connect())).tokens == READ
    assert all(asks(body) for body in server.bodies)


async def test_a_bad_request_says_nothing_about_them(server: ChatServer, connect: Connect) -> None:
    server.follow(
        lambda body: failure(400, "too long") if "long" in str(body["messages"]) else with_logprobs({"content": TOKENS})
    )
    talk = await connect()
    with pytest.raises(ToolError, match="too long"):
        await graded(talk, "long")
    assert (await graded(talk, "short")).tokens == READ


async def test_a_mode_that_is_refused_is_told_from_them(server: ChatServer, connect: Connect) -> None:
    """A server without JSON Schemas that gives log-probabilities."""
    server.follow(lambda body: failure(400) if mode_of(body) == "json_schema" else with_logprobs({"content": TOKENS}))
    talk = await connect()
    assert (await graded(talk, "one")).tokens == READ
    assert (await graded(talk, "two")).tokens == READ
    assert [mode_of(body) for body in server.bodies] == ["json_schema", "json_mode", "json_mode"]


@pytest.mark.parametrize(
    ("reply", "advice"),
    [
        (failure(401, "Incorrect API key"), "check the key"),
        (failure(403), "check the key"),
        (failure(404, "The model does not exist"), "check the key, the name and the base URL"),
        (failure(429, code="insufficient_quota"), "check the key"),
    ],
)
async def test_a_wrong_set_up_is_still_one(server: ChatServer, connect: Connect, reply: Reply, advice: str) -> None:
    server.follow(lambda _: reply)
    with pytest.raises(ConfigError, match=advice):
        await graded(await connect())


async def test_an_unreachable_server_is_a_wrong_set_up(connect: Connect) -> None:
    with pytest.raises(ConfigError, match="is the server running"):
        await graded(await connect(base_url="http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        [],
        {},
        "none",
        5,
        {"content": None},
        {"content": []},
        {"content": 5},
        {"content": "yes"},
        {"content": {"token": "yes"}},
        {"content": [None]},
        {"content": [{}]},
        {"content": [{"token": "yes"}]},
        {"content": [{"token": "yes", "logprob": None}]},
        {"content": [{"token": "yes", "logprob": "high"}]},
        {"content": [{"token": "yes", "logprob": 10**400}]},
        {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": {"yes": -0.1}}]},
        {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": 5}]},
        {"content": [{"token": "yes", "logprob": -0.1, "bytes": "yes"}]},
        {"content": [{"token": "yes", "logprob": -0.1, "bytes": [300]}]},
        {"tokens": ["yes"], "token_logprobs": [-0.1]},
    ],
    ids=lambda logprobs: str(logprobs)[:60],
)
async def test_what_is_no_list_of_tokens_is_none(server: ChatServer, connect: Connect, logprobs: Any) -> None:
    server.will(with_logprobs(logprobs))
    assert await graded(await connect()) == AnswerWithTokens(YES, ())


async def test_tokens_without_alternatives_are_their_own(server: ChatServer, connect: Connect) -> None:
    server.will(with_logprobs({"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": None}]}))
    assert (await graded(await connect())).tokens == (ReplyToken("yes", {"yes": -0.1}),)


async def test_a_token_is_what_its_bytes_spell(server: ChatServer, connect: Connect) -> None:
    """A character of two tokens stands in the second, so that the tokens are as long as the text."""
    pieces = [("\\xc3", [0xC3]), ("\\xa9t", [0xA9, 0x74]), ("s", [0x73])]
    items = [
        {"token": text, "logprob": -0.1, "bytes": spelled, "top_logprobs": [{"token": text, "logprob": -0.1}]}
        for text, spelled in pieces
    ]
    server.will(with_logprobs({"content": items}))
    tokens = (await graded(await connect())).tokens
    assert tokens == (
        ReplyToken("", {"": -0.1}),
        ReplyToken("\u00e9t", {"\u00e9t": -0.1}),
        ReplyToken("s", {"s": -0.1}),
    )


FIELD = re.compile(r'"(?P<value>relevant)"')


async def test_only_what_is_needed_of_them_is_kept(server: ChatServer, connect: Connect, tmp_path: Path) -> None:
    pieces = ['{"reason":"A long story.",', '"', "relevant", '"', ":true}"]
    items = [{"token": text, "logprob": -0.1, "top_logprobs": [{"token": "other", "logprob": -2}]} for text in pieces]
    server.will(with_logprobs({"content": items}))
    for _ in range(2):
        talk = await connect(cache=tmp_path / "calls.sqlite")
        answered = await talk.gateway.ask_graded(
            question("one"), Relevance, stage=STAGE, meter=talk.meter, top_logprobs=5, needed=FIELD
        )
        likely = {"relevant": -0.1, "other": -2.0}
        assert answered.tokens == (ReplyToken('"', {}), ReplyToken("relevant", likely), ReplyToken('"', {}))
    assert len(server.bodies) == 1
    assert isinstance(talk.cache, CallCache)
    (kept,) = talk.cache._connection.execute("SELECT value FROM answers").fetchone()
    assert len(json.loads(kept)["reply"]["tokens"]) == 3


async def test_a_kept_reply_keeps_its_tokens(server: ChatServer, connect: Connect, tmp_path: Path) -> None:
    server.will(with_logprobs({"content": TOKENS}))
    path = tmp_path / "calls.sqlite"
    fresh = await graded(await connect(cache=path))
    assert await graded(await connect(cache=path)) == fresh == AnswerWithTokens(YES, READ)


async def test_a_reply_kept_before_there_were_tokens_has_none(
    server: ChatServer, connect: Connect, tmp_path: Path
) -> None:
    server.will(said(YES_SAID))
    talk = await connect(cache=tmp_path / "calls.sqlite")
    await ask(talk)
    _drop_tokens(talk)
    assert await graded(talk, top_logprobs=0) == AnswerWithTokens(YES, ())


def _drop_tokens(talk: Talk) -> None:
    """Makes the kept replies what an earlier version wrote."""
    assert isinstance(talk.cache, CallCache)
    execute = talk.cache._connection.execute
    for key, value in execute("SELECT key, value FROM answers").fetchall():
        kept = json.loads(value)
        del kept["reply"]["tokens"]
        execute("UPDATE answers SET value = ? WHERE key = ?", (json.dumps(kept), key))


async def test_replies_with_and_without_them_are_kept_apart(server: ChatServer, connect: Connect) -> None:
    server.will(said(YES_SAID), with_logprobs({"content": TOKENS}), with_logprobs({"content": TOKENS}))
    talk = await connect()
    await ask(talk)
    assert (await graded(talk)).tokens == READ
    assert (await graded(talk, top_logprobs=2)).tokens == READ
    await graded(talk, top_logprobs=0)  # the same as the first
    assert [body.get("top_logprobs") for body in server.bodies] == [None, 5, 2]
    assert talk.meter.snapshot(0.0).cache_hits == 1


async def test_the_repair_turn_asks_for_them_as_well(server: ChatServer, connect: Connect) -> None:
    server.will(with_logprobs({"content": TOKENS[:1]}, "hm"), with_logprobs({"content": TOKENS}))
    assert await graded(await connect()) == AnswerWithTokens(YES, READ)
    assert [asks(body) for body in server.bodies] == [True, True]
