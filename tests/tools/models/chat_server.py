from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Json = dict[str, Any]
KEY = "sk-test-0123456789abcdef"


@dataclass(frozen=True)
class Reply:
    """With `cut_at` the server hangs up after that many bytes."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"
    delay_s: float = 0.0
    cut_at: int | None = None


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
    """A text reply; an object is written as JSON."""
    return completion({"content": content if isinstance(content, str) else json.dumps(content)}, **options)


def called(*calls: tuple[str, str | Json], finish: str = "tool_calls", **options: Any) -> Reply:
    """A reply that calls tools, each with arguments as JSON or as literal text."""
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
    """Answers requests in order from its script, or by a rule. A request beyond the script fails the test."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    rule: Callable[[Json], Reply] | None = None
    bodies: list[Json] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    overrun: int = 0

    def will(self, *replies: Reply) -> None:
        self.script.extend(replies)

    def follow(self, rule: Callable[[Json], Reply]) -> None:
        self.rule = rule

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        self.bodies.append(body)
        self.asked.set()
        return await self._send(request, self._next(body))

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
        if reply.cut_at is None:
            return web.Response(status=reply.status, body=reply.body, headers=headers)
        response = web.StreamResponse(status=reply.status, headers=headers)
        response.content_length = len(reply.body)
        await response.prepare(request)
        await response.write(reply.body[: reply.cut_at])
        assert request.transport is not None
        request.transport.close()
        return response
