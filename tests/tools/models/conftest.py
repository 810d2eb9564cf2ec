"""A chat server on loopback that follows a script, and a gateway that talks to it."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from langchain_core.language_models import BaseChatModel

from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.models.chat import ChatModel, build_chat_model, wrap_chat_model
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.prices import Price
from factloop.tools.models.transport import Transport

Json = dict[str, Any]
KEY = "sk-test-0123456789abcdef"


@dataclass(frozen=True)
class Reply:
    """One answer of the server. With `cut_at` it hangs up after so many bytes; with `drip_s` it sends one by one."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"
    delay_s: float = 0.0
    cut_at: int | None = None
    drip_s: float | None = None


def completion(message: Json, *, finish: str = "stop", usage: tuple[int, int] | None = (100, 20)) -> Reply:
    """A chat completion as OpenAI sends it."""
    body: Json = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
        ],
    }
    if usage is not None:
        prompt, completed = usage
        body["usage"] = {"prompt_tokens": prompt, "completion_tokens": completed, "total_tokens": prompt + completed}
    return Reply(body=json.dumps(body).encode())


def said(content: str | Json, **options: Any) -> Reply:
    """The model answers in text; an object is written as JSON."""
    return completion({"content": content if isinstance(content, str) else json.dumps(content)}, **options)


def called(*calls: tuple[str, str | Json], finish: str = "tool_calls", **options: Any) -> Reply:
    """The model calls tools, each with arguments as JSON or as literal text."""
    tool_calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(calls)
    ]
    return completion({"tool_calls": tool_calls}, finish=finish, **options)


def failure(
    status: int, message: str = "no", *, code: str | None = None, param: str | None = None, **headers: str
) -> Reply:
    """An error as OpenAI sends it. Underscores in header names stand for hyphens."""
    error = {"message": message, "type": "some_error", "code": code, "param": param}
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Reply(status, json.dumps({"error": error}).encode(), named)


@dataclass
class ChatServer:
    """Answers requests by its script, one after the other, or by a rule. A request beyond the script fails the test."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    rule: Callable[[Json], Reply] | None = None
    bodies: list[Json] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    overrun: int = 0
    in_flight: int = 0
    most_in_flight: int = 0

    def will(self, *replies: Reply) -> None:
        self.script.extend(replies)

    def follow(self, rule: Callable[[Json], Reply]) -> None:
        self.rule = rule

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        self.bodies.append(body)
        self.asked.set()
        self.paths.append(request.path)
        self.keys.append(request.headers.get("Authorization", ""))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._send(request, self._next(body))
        finally:
            self.in_flight -= 1

    def _next(self, body: Json) -> Reply:
        if self.rule is not None:
            return self.rule(body)
        if not self.script:
            self.overrun += 1
            return failure(418, "the script has ended")
        return self.script.pop(0)

    async def _send(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        await asyncio.sleep(reply.delay_s)
        headers = {"Content-Type": reply.content_type, **dict(reply.headers)}
        if reply.cut_at is None and reply.drip_s is None:
            return web.Response(status=reply.status, body=reply.body, headers=headers)
        response = web.StreamResponse(status=reply.status, headers=headers)
        response.content_length = len(reply.body)
        await response.prepare(request)
        if reply.cut_at is not None:
            await response.write(reply.body[: reply.cut_at])
        for byte in reply.body if reply.drip_s is not None else b"":
            await response.write(bytes([byte]))
            await asyncio.sleep(reply.drip_s or 0.0)
        assert request.transport is not None
        request.transport.close()
        return response


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    chat = ChatServer()
    application = web.Application(client_max_size=2**26, handler_args={"handler_cancellation": True})
    application.router.add_post("/{path:.*}", chat.handle)
    loopback = TestServer(application)
    await loopback.start_server()
    chat.url = str(loopback.make_url("/v1"))
    yield chat
    await loopback.close()
    assert chat.overrun == 0, "more requests came than the script foresaw"
    assert not chat.script, "the script was not played to its end"


@dataclass
class Talk:
    """A gateway with all that it stands on, as one run has it."""

    gateway: ModelGateway
    chat: ChatModel
    cache: CallCache
    budget: Budget
    meter: UsageMeter = field(default_factory=UsageMeter)


def talk_to(
    chat: ChatModel,
    *,
    cache: Path | CallCache | None = None,
    journal: bool = False,
    use_tools: bool = True,
    timeout_s: float = 5.0,
    max_calls: int | None = None,
    max_usd: float | None = None,
    concurrency: int | None = None,
    retry: RetryPolicy | None = None,
) -> Talk:
    """A gateway to `chat` that retries without long pauses."""
    prompts = PromptRegistry.load()
    budget = Budget(max_calls=max_calls, max_usd=max_usd)
    transport = Transport(
        chat,
        json_reply=prompts["gateway/json_reply"],
        limiter=Limiter(concurrency=concurrency),
        budget=budget,
        retry=retry or RetryPolicy(base_s=0.001),
        timeout_s=timeout_s,
        rng=random.Random(0),
        use_tools=use_tools,
    )
    kept = cache if isinstance(cache, CallCache) else CallCache(cache)
    gateway = ModelGateway(
        chat, transport, repair=prompts["gateway/repair"], cache=kept, budget=budget, journal=journal
    )
    return Talk(gateway, chat, kept, budget)


Connect = Callable[..., Awaitable[Talk]]


@asynccontextmanager
async def talking(chat: ChatModel, options: Json) -> AsyncIterator[Talk]:
    talk = talk_to(chat, **options)
    try:
        yield talk
    finally:
        talk.cache.close()
        await chat.aclose()


@pytest.fixture
async def connect(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connect]:
    """Makes gateways to the scripted server (or another address, or a model of one's own), and closes them."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with AsyncExitStack() as stack:

        async def open_one(
            *,
            base_url: str | None = None,
            model: BaseChatModel | None = None,
            price: Price | None = None,
            temperature: float | None = 0.1,
            **options: Any,
        ) -> Talk:
            if model is not None:
                chat = wrap_chat_model(model, price=price)
            else:
                address = base_url or server.url
                chat = build_chat_model("openai:scripted", base_url=address, price=price, temperature=temperature)
            return await stack.enter_async_context(talking(chat, options))

        yield open_one


@pytest.fixture(autouse=True)
def _no_keys_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in _variables(("OPENAI", "ANTHROPIC"), ("API_KEY", "BASE_URL", "ORG_ID", "PROXY")):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("OPENAI_API_BASE", "HTTP_PROXY", "http_proxy", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(variable, raising=False)


def _variables(owners: Iterable[str], names: Iterable[str]) -> Iterable[str]:
    return (f"{owner}_{name}" for owner in owners for name in names)
