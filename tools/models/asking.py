"""Represents a request to a chat model as a cacheable call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from factloop.tools.calls.answers import Value
from factloop.tools.calls.meter import CallCost, UsageMeter
from factloop.tools.calls.tape import TapeRequest
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.schema import strict_schema
from factloop.tools.models.transport import Request, Transport
from factloop.tools.models.wire import Mode, Reply, ReplyToken, ToolCall


def asked_of(chat: ChatModel, request: Request, shaping: Mapping[str, Any]) -> TapeRequest:
    """Builds the tape request. `shaping` is everything that affects the answer. Schemas and tools are hashed."""
    placeless = {name: value for name, value in chat.identity.items() if name != "base_url"}
    sampling = {name: value for name, value in placeless.items() if name != "model"}
    shown: dict[str, Any] = {"model": chat.name, "sampling": sampling, "messages": shaping["messages"]}
    if request.output is not None:
        shown["schema"] = f"{request.output.__name__} {_digest(shaping['schema'])}"
    if request.offers is not None:
        shown["tools"] = [f"{tool['function']['name']} {_digest(tool)}" for tool in shaping["tools"]]
    if request.top_logprobs:
        shown["top_logprobs"] = request.top_logprobs
    return TapeRequest("model", {**shaping, "model": placeless}, shown)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:8]


@dataclass(frozen=True)
class ModelCall:
    """A request to a model as a `Call`. The answer has the form `{reply, cost, mode}`."""

    chat: ChatModel
    transport: Transport
    request: Request
    key: str
    keep_s: float | None = None

    @property
    def stage(self) -> str:
        return self.request.stage

    @property
    def meter(self) -> UsageMeter:
        return self.request.meter

    @property
    def recorded_as(self) -> TapeRequest:
        return asked_of(self.chat, self.request, _shaping(self.chat, self.request))

    async def make(self, meter: UsageMeter) -> Value:
        request = self.request if meter is self.request.meter else replace(self.request, meter=meter)
        reply, cost, mode = await self.transport.send(request)
        return {"reply": plain_reply(reply), "cost": vars(cost), "mode": mode.value}

    def price(self, value: Value) -> tuple[int, float]:
        return 1, value["cost"]["cost_usd"] or 0.0

    def charge_earlier(self, value: Value) -> None:
        self.meter.called(self.stage, CallCost(**value["cost"]), wall_s=0.0)

    def read(self, value: Mapping[str, Any]) -> None:
        Mode(value["mode"])
        CallCost(**value["cost"])
        reply = read_reply(value["reply"])
        names = (reply.refusal or "", reply.finish_reason, reply.model, *(call.name for call in reply.tool_calls))
        "".join((reply.text, *names, *(token.text for token in reply.tokens)))  # raises TypeError for other values
        fsum(chance for token in reply.tokens for chance in token.alternatives.values())


def request_key(chat: ChatModel, request: Request) -> str:
    """Returns the key of all requests that can share an answer: those with the same model, settings and input."""
    shaping = _shaping(chat, request)
    return hashlib.sha256(json.dumps(shaping, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _shaping(chat: ChatModel, request: Request) -> dict[str, Any]:
    named: dict[str, Any] = {
        "model": chat.identity,
        "messages": [[message.type, message.text] for message in request.messages],
        "schema": strict_schema(request.output) if request.output is not None else None,
        "tools": request.offers.as_openai if request.offers is not None else [],
    }
    if request.top_logprobs:
        named["top_logprobs"] = request.top_logprobs
    if request.draw:
        named["draw"] = request.draw
    return named


def plain_reply(reply: Reply) -> dict[str, Any]:
    return {
        **vars(reply),
        "tool_calls": [vars(call) for call in reply.tool_calls],
        "tokens": [[token.text, token.alternatives] for token in reply.tokens],
    }


def read_reply(fields: Mapping[str, Any]) -> Reply:
    calls = tuple(ToolCall(**call) for call in fields["tool_calls"])
    tokens = tuple(ReplyToken(*token) for token in fields.get("tokens", ()))  # older answers lack this field
    return Reply(**{**fields, "tool_calls": calls, "tokens": tokens})
