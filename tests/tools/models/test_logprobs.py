from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from factloop.agents.safe.schemas import Relevance
from factloop.core.errors import ToolError
from factloop.tools.calls.cache import CallCache
from factloop.tools.models.gateway import AnswerWithTokens
from factloop.tools.models.logprobs import only_needed, option_probabilities
from factloop.tools.models.schema import Offers
from factloop.tools.models.tokens import count_tokens
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


async def graded(talk: Talk, text: str = "Is it relevant?") -> AnswerWithTokens[Relevance]:
    return await talk.gateway.ask_graded(question(text), Relevance, stage=STAGE, meter=talk.meter, top_logprobs=5)


def asks(body: Json) -> bool:
    return bool(body.get("logprobs"))


def refusing(refusal: Reply, *, but: Callable[[Json], bool] = asks) -> Callable[[Json], Reply]:
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


async def test_a_tool_call_is_asked_for_none_and_says_nothing_about_them(server: ChatServer, connect: Connect) -> None:
    server.follow(
        lambda body: (
            called(("Relevance", YES_SAID)) if body.get("tools") else failure(403) if asks(body) else said(YES_SAID)
        )
    )
    talk = await connect()
    assert await offering(talk, "one") == AnswerWithTokens(YES, ())
    assert await graded(talk, "two") == AnswerWithTokens(YES, ())
    assert [asks(body) for body in server.bodies] == [False, True, False]


async def test_a_bad_request_says_nothing_about_them(server: ChatServer, connect: Connect) -> None:
    server.follow(
        lambda body: failure(400, "too long") if "long" in str(body["messages"]) else with_logprobs({"content": TOKENS})
    )
    talk = await connect()
    with pytest.raises(ToolError, match="too long"):
        await graded(talk, "long")
    assert (await graded(talk, "short")).tokens == READ


@pytest.mark.parametrize(
    "logprobs",
    [
        None, [], "none", {"content": None}, {"content": 5}, {"content": "yes"}, {"content": {"token": "yes"}},
        {"content": [None]}, {"content": [{"token": "yes"}]}, {"content": [{"token": "yes", "logprob": None}]},
        {"content": [{"token": "yes", "logprob": "high"}]}, {"content": [{"token": "yes", "logprob": 10**400}]},
        {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": {"yes": -0.1}}]},
        {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": 5}]},
        {"content": [{"token": "yes", "logprob": -0.1, "bytes": [300]}]},
        {"tokens": ["yes"], "token_logprobs": [-0.1]},
    ],
    ids=lambda logprobs: str(logprobs)[:60],
)  # fmt: skip
async def test_what_is_no_list_of_tokens_is_none(server: ChatServer, connect: Connect, logprobs: Any) -> None:
    server.will(with_logprobs(logprobs))
    assert await graded(await connect()) == AnswerWithTokens(YES, ())


async def test_only_what_is_needed_of_them_is_kept(server: ChatServer, connect: Connect, tmp_path: Path) -> None:
    pieces = ['{"reason":"A long story.",', '"', "relevant", '"', ":true}"]
    items = [{"token": text, "logprob": -0.1, "top_logprobs": [{"token": "other", "logprob": -2}]} for text in pieces]
    server.will(with_logprobs({"content": items}))
    for _ in range(2):
        talk = await connect(cache=tmp_path / "calls.sqlite")
        answered = await talk.gateway.ask_graded(
            question("one"),
            Relevance,
            stage=STAGE,
            meter=talk.meter,
            top_logprobs=5,
            needed=re.compile(r'"(?P<value>relevant)"'),
        )
        likely = {"relevant": -0.1, "other": -2.0}
        assert answered.tokens == (ReplyToken('"', {}), ReplyToken("relevant", likely), ReplyToken('"', {}))
    assert len(server.bodies) == 1
    assert isinstance(talk.cache, CallCache)
    (kept,) = talk.cache.values()
    assert len(kept["reply"]["tokens"]) == 3


OPTIONS = ("supported", "contradicted", "insufficient")
FIELD = re.compile(r'"verdict"\s*:\s*"(?P<value>[^"\\]*)"')


def token(text: str, shares: Mapping[str, float] | None = None) -> ReplyToken:
    found = {text: 1.0} if shares is None else shares
    return ReplyToken(text, {one: math.log(share) for one, share in found.items()})


def found(tokens: Sequence[ReplyToken], options: Sequence[str] = OPTIONS) -> Mapping[str, float] | None:
    (match,) = FIELD.finditer("".join(one.text for one in tokens))
    return option_probabilities(tokens, match.span("value"), options, closing='"')


def test_a_shared_beginning_is_walked_through() -> None:
    options = ("supported", "supportive", "other")
    tokens = [
        token('{"verdict":"'),
        token("support", {"support": 0.8, "suppo": 0.1, "other": 0.1}),
        token("ed", {"ed": 0.75, "ive": 0.25}),
        token('"}'),
    ]
    # 0.8 * 0.75, 0.8 * 0.25; which of the two `suppo` would have become is unknown.
    assert found(tokens, options) == pytest.approx({"supported": 0.6, "supportive": 0.2, "other": 0.1})


VERDICTS = ("supported", "contradicted", "insufficient", "ambiguous")
ALIKE = ("supported", "supportive", "not_supported", "insufficient", "in")
WIDTHS = st.lists(st.integers(1, 5), min_size=1, max_size=40)
WEIGHTS = st.lists(st.floats(0.01, 1.0), min_size=5, max_size=5)


def cut(odds: Mapping[str, float], said: str, widths: Sequence[int]) -> list[ReplyToken]:
    """A reply in pieces of these widths, each with the probability that its options give it."""
    texts = {option: f'{{"reason":"","verdict":"{option}"}}' for option in odds}
    tokens: list[ReplyToken] = []
    at = 0
    while at < len(texts[said]):
        width = widths[len(tokens) % len(widths)]
        here: dict[str, float] = {}
        for option, text in texts.items():
            if text[:at] == texts[said][:at]:
                here[text[at : at + width]] = here.get(text[at : at + width], 0.0) + odds[option]
        total = math.fsum(here.values())
        tokens.append(token(texts[said][at : at + width], {text: share / total for text, share in here.items()}))
        at += width
    return tokens


def normalised(options: Sequence[str], weights: Sequence[float]) -> dict[str, float]:
    weighed = dict(zip(options, weights, strict=False))
    return {option: weight / math.fsum(weighed.values()) for option, weight in weighed.items()}


@given(WIDTHS, WEIGHTS, st.sampled_from(VERDICTS))
def test_however_it_is_cut_whole_probabilities_come_back(widths: list[int], weights: list[float], said: str) -> None:
    odds = normalised(VERDICTS, weights)
    tokens = cut(odds, said, widths)
    assert found(tokens, VERDICTS) == pytest.approx(odds)
    kept = only_needed(tokens, FIELD)
    assert found(kept, VERDICTS) == pytest.approx(odds)
    assert only_needed(kept, FIELD) == kept


@given(WIDTHS, WEIGHTS, st.sampled_from(ALIKE))
def test_options_that_begin_alike_are_never_given_more_than_their_own(
    widths: list[int], weights: list[float], said: str
) -> None:
    odds = normalised(ALIKE, weights)
    shares = found(cut(odds, said, widths), ALIKE)
    assert shares is not None
    assert shares[said] == pytest.approx(odds[said])
    assert all(shares[option] <= odds[option] + 1e-9 for option in ALIKE)


def test_only_the_fields_are_kept_and_only_alternatives_of_their_values() -> None:
    shares = {"supp": 0.9, "ins": 0.1}
    reply = ['{"facts":[{"', "reason", '":"', "A long", " story", '","', "verdict", '":"', "supp", "orted", '"},', '{"']
    tokens = [token(text, shares if text == "supp" else None) for text in [*reply, *reply[1:]]]
    kept = only_needed(tokens, FIELD)
    assert [one.text for one in kept] == ['","', "verdict", '":"', "supp", "orted", '"},'] * 2
    assert [one.text for one in kept if one.alternatives] == ["supp", "orted"] * 2
    assert only_needed(tokens[:6], FIELD) == ()


ALONE = """
import socket, sys
def refuse(*_, **__): raise AssertionError("a connection was opened")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from factloop.tools.models.tokens import count_tokens
print(count_tokens("a" * 41), "tiktoken" in sys.modules)
"""


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_without_a_vocabulary_four_characters_are_a_token(
    text: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert count_tokens(text) == expected


@pytest.mark.process
def test_counting_touches_no_network_and_loads_no_tokenizer(tmp_path: Path) -> None:
    environment = {"TIKTOKEN_CACHE_DIR": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["11", "False"]  # 41 / 4, rounded up
