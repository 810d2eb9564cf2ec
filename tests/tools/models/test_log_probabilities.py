"""Log-probabilities: asked for where they are wanted, done without where a server refuses, kept with the reply."""

from __future__ import annotations

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
from factloop.tools.models.schema import Offers
from factloop.tools.models.wire import ReplyToken
from tests.tools.models.chat_server import ChatServer, Json, Reply, called, failure, said
from tests.tools.models.questions import STAGE, YES, YES_SAID, mode_of, question
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


@pytest.mark.parametrize("param", ["logprobs", "top_logprobs"])
async def test_a_refusal_that_names_them_costs_one_request(server: ChatServer, connect: Connect, param: str) -> None:
    server.follow(refusing(failure(400, "Unsupported parameter", param=param)))
    talk = await connect()
    for text in ("one", "two"):
        assert await graded(talk, text) == AnswerWithTokens(YES, ())
    assert [(asks(body), mode_of(body)) for body in server.bodies] == [
        (True, "json_schema"), (False, "json_schema"), (False, "json_schema"),
    ]  # fmt: skip


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
