"""A server that has several models: two names at one address are two models, each with abilities of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factloop.cli.console import DONE
from tests.cli.command import Command
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply, serving

BROKEN = 2
LISTED = {"large": 32_768, "small": 4_096}
"""The models with their contexts; the small one takes neither tools nor log-probabilities."""
REFUSED_BY_SMALL = ("tools", "logprobs")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as fake:
        fake.respond = respond
        yield fake


def respond(request: ReceivedRequest) -> Reply:
    if request.path == "/v1/models":
        listed = [{"id": name, "meta": {"n_ctx": n_tokens}} for name, n_tokens in LISTED.items()]
        return reply(200, {"object": "list", "data": listed})
    name = request.payload["model"]
    if name not in LISTED:
        return failure(404, f"model {name!r} not found")
    for field in REFUSED_BY_SMALL if name == "small" else ():
        if request.payload.get(field):
            return failure(400, f"this model does not take {field}", param=field)
    told = re.findall(r'<sentence id="(\d+)">(.*?)</sentence>', request.payload["messages"][-1]["content"], re.DOTALL)
    if not told:
        return completion(name, {"rationale": "[1] says so.", "cited": [1], "wrong": "", "verdict": "supported"})
    facts = [
        {"sentence": int(number), "fact": text.strip(), "verdict": "supported", "passages": [1]}
        for number, text in told
    ]
    return completion(name, {"facts": facts, "without_fact": [], "off_topic": []})


def completion(model: str, said: dict[str, Any]) -> Reply:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(said)}}
    return reply(200, {"id": "1", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]})


def failure(status: int, message: str, param: str | None = None) -> Reply:
    return reply(status, {"error": {"message": message, "type": "invalid_request_error", "param": param}})


def reply(status: int, value: object) -> Reply:
    return Reply(status, json.dumps(value).encode())


def test_their_answers_are_not_taken_for_each_other_s(
    factloop: Command, server: FakeServer, answer: Path, docs: Path
) -> None:
    answer.write_text("Ada Lovelace was born in London.\n", encoding="utf-8")
    asked = []
    for name in ("large", "small", "large"):
        before = len(server.received)
        done = factloop("check", answer, "--docs", docs, "--model", f"openai:{name}", "--base-url", f"{server.url}/v1")
        assert done.code == DONE, done.err
        asked.append({request.payload["model"] for request in server.received[before:] if request.payload})
    assert asked == [{"large"}, {"small"}, set()]


def test_one_that_is_not_there_is_the_set_up_s_whatever_the_other_answers(
    factloop: Command, server: FakeServer, docs: Path
) -> None:
    address = ("--base-url", f"{server.url}/v1", "--corpus", docs, "--no-cache")
    asked = ("--question", "Where was Ada Lovelace born?", "--response", "Ada Lovelace was born in London.")
    done = factloop("trust", *asked, "--subject-model", "openai:large", "--judge-model", "openai:smal", *address)
    assert (done.code, "openai:smal: HTTP 404" in done.err) == (BROKEN, True)
    assert "openai:large" not in done.err
