"""The shapes of OpenAI's chat-completions API, as far as its clients use them."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.simulator.brain import TITLES
from tests.simulator.logprobs import token_logprobs
from tests.simulator.settings import CHAT

Json = Mapping[str, Any]

_TITLE = re.compile(rf"\b({'|'.join(TITLES)})\b")
_QUOTED_TITLE = re.compile(rf'"title"\s*:\s*"({"|".join(TITLES)})"')
_CHARS_PER_CHUNK = 32


@dataclass(frozen=True)
class Message:
    """The model's text, function call or refusal."""

    content: str | None = None
    function: str | None = None
    arguments: str = ""
    refusal: str | None = None
    finish_reason: str = "stop"
    letters: Mapping[str, float] = field(default_factory=dict)
    """How probable each letter was, where the message chooses one."""
    verdicts: Sequence[Mapping[str, float]] = ()
    """How probable each verdict was, for every field that holds one, in order."""

    @property
    def said(self) -> str:
        """Everything that counts as completion tokens."""
        return (self.content or "") + (self.function or "") + self.arguments + (self.refusal or "")


def text_of(message: Json) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if isinstance(part, dict))


def first_user_text(body: Json) -> str:
    """The first user message, which holds the data; later ones are repair turns."""
    return next((text_of(message) for message in body["messages"] if message.get("role") == "user"), "")


def system_text(body: Json) -> str:
    messages = (message for message in body["messages"] if message.get("role") in ("system", "developer"))
    return next((text_of(message) for message in messages), "")


def functions_of(body: Json) -> Mapping[str, Json]:
    tools = body.get("tools") or []
    return {tool["function"]["name"]: tool["function"].get("parameters") or {} for tool in tools}


def response_schema(body: Json) -> Json:
    """The schema of the response format, or an empty object."""
    described = (body.get("response_format") or {}).get("json_schema") or {}
    return described.get("schema") or {}


def title_of(body: Json) -> str:
    """The title of the requested answer: from the response format, a function or the messages; else `chat`."""
    described = (body.get("response_format") or {}).get("json_schema") or {}
    named = {described.get("name"), response_schema(body).get("title"), *functions_of(body)}
    for title in TITLES:
        if title in named:
            return title
    messages: Sequence[Json] = body["messages"]
    for pattern in (_QUOTED_TITLE, _TITLE):
        for role in ("system", "user"):
            texts = [text_of(message) for message in messages if message.get("role") in (role, "developer")]
            found = pattern.findall(texts[-1]) if texts else []
            if found:
                return str(found[-1])
    return CHAT


def count_tokens(text_length: int) -> int:
    """One token per four characters, rounded up, which is the same for every measured checker."""
    return math.ceil(text_length / 4)


def prompt_tokens(body: Json) -> int:
    """Tokens of all messages, tools and the response format, the latter two as compact JSON."""
    length = 0
    for message in body["messages"]:
        length += len(text_of(message))
        length += sum(len(call["function"]["arguments"]) for call in message.get("tool_calls") or ())
    for extra in ("tools", "response_format"):
        if body.get(extra):
            length += len(compact(body[extra]))
    return count_tokens(length)


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def completion(number: int, model: str, message: Message, usage: Json, top_logprobs: int | None = None) -> Json:
    """The body of a response without streaming; `top_logprobs` is the number of alternatives, if any."""
    said: dict[str, Any] = {"role": "assistant", "content": message.content, "refusal": message.refusal}
    if message.function:
        said["tool_calls"] = [_tool_call(number, message)]
    logprobs = None
    if message.content is not None and top_logprobs is not None:
        logprobs = _logprobs(token_logprobs(message.content, message.letters, top_logprobs, message.verdicts))
    choice = {"index": 0, "message": said, "logprobs": logprobs, "finish_reason": message.finish_reason}
    return {**_head(number, model, "chat.completion"), "choices": [choice], "usage": usage}


def chunks(
    number: int, model: str, message: Message, usage: Json | None, top_logprobs: int | None = None
) -> Iterator[tuple[int, Json]]:
    """The bodies of a streamed response, each with its token count; `usage` comes last, if requested."""
    head = _head(number, model, "chat.completion.chunk")

    def chunk(delta: Json, finish_reason: str | None = None, logprobs: Json | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
        return {**head, "choices": [choice]}

    yield 0, chunk({"role": "assistant", "content": "" if message.content is not None else None})
    if message.refusal:
        yield count_tokens(len(message.refusal)), chunk({"refusal": message.refusal})
    if message.function:
        yield (
            count_tokens(len(message.function)),
            chunk({"tool_calls": [{"index": 0, **_tool_call(number, message, "")}]}),
        )
    for piece in _pieces(message.arguments):
        delta = {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
        yield count_tokens(len(piece)), chunk(delta)
    for piece, logprobs in _content_pieces(message, top_logprobs):
        yield count_tokens(len(piece)), chunk({"content": piece}, logprobs=logprobs)
    yield 0, chunk({}, message.finish_reason)
    if usage is not None:
        yield 0, {**head, "choices": [], "usage": usage}


def error(message: str, kind: str, code: str | None = None, param: str | None = None) -> Json:
    return {"error": {"message": message, "type": kind, "code": code, "param": param}}


def _head(number: int, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": int(time.time()), "model": model}


def _tool_call(number: int, message: Message, arguments: str | None = None) -> Json:
    said = message.arguments if arguments is None else arguments
    return {"id": f"call_{number}", "type": "function", "function": {"name": message.function, "arguments": said}}


def _content_pieces(message: Message, top_logprobs: int | None) -> Iterator[tuple[str, Json | None]]:
    """The pieces of the content; with log-probabilities, each is one token."""
    content = message.content or ""
    if top_logprobs is None:
        yield from ((piece, None) for piece in _pieces(content))
    else:
        tokens = token_logprobs(content, message.letters, top_logprobs, message.verdicts)
        yield from ((token["token"], _logprobs([token])) for token in tokens)


def _logprobs(tokens: Sequence[Json]) -> Json:
    return {"content": tokens, "refusal": None}


def _pieces(text: str) -> Iterator[str]:
    yield from (text[start : start + _CHARS_PER_CHUNK] for start in range(0, len(text), _CHARS_PER_CHUNK))
