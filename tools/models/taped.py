"""Requests to a chat model as a tape has them: the same wherever the model's server is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from factloop.tools.calls.tape import TapeRequest
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.transport import Request


def asked_of(chat: ChatModel, request: Request, shaping: Mapping[str, Any]) -> TapeRequest:
    """`shaping` is all that shapes the answer, as the cache has it; schemas and tools are shown by name and hash."""
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
