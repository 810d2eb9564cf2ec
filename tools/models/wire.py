"""Converts requests to LangChain calls, and LangChain messages to plain replies."""

from __future__ import annotations

import codecs
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from pydantic import ValidationError

from factloop.tools.models.completions import REFUSAL, is_token_count
from factloop.tools.models.schema import loosened

Schema = Mapping[str, Any]
OpenAITool = Mapping[str, Any]
Bound = Callable[[Sequence[BaseMessage]], Awaitable[BaseMessage]]
TAGS = ("factloop", "nostream")
"""Tags for a judge's runs. `nostream` keeps the judge's messages out of an application's LangGraph stream."""


class Mode(StrEnum):
    """The ways to make a model follow a schema, strongest first."""

    TOOLS = "tools"
    JSON_SCHEMA = "json_schema"
    JSON_MODE = "json_mode"
    TEXT = "text"


_UTF8 = codecs.getincrementaldecoder("utf-8")
_WRITTEN = ("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
NEEDS_SCHEMA_IN_PROMPT = frozenset({Mode.JSON_MODE, Mode.TEXT})


class ModeUnavailable(Exception):
    """Raised if this chat model cannot be called in this mode."""


def bind(
    model: BaseChatModel, mode: Mode, schema: Schema, tools: Sequence[OpenAITool], *, top_logprobs: int = 0
) -> Bound:
    """Returns the model bound to answer with `schema` (or one of `tools`) in `mode`. Raises ModeUnavailable.

    `top_logprobs` requests that many alternatives for each token, but only with OpenAI's API.

    With OpenAI's chat-completions API, the fields go directly into the request body. For other providers, the client
    library transforms the schema and `with_structured_output` parses the reply, which takes 2.5 ms of CPU time.
    """
    from langchain_openai.chat_models.base import BaseChatOpenAI  # imported late, because it is rarely needed

    quiet = RunnableConfig(tags=list(TAGS))
    try:
        if isinstance(model, BaseChatOpenAI) and model.use_responses_api is False:
            fields = _openai_fields(mode, schema, tools)
            if top_logprobs:
                fields |= {"logprobs": True, "top_logprobs": top_logprobs}
            # The fields are passed as arguments, because a binding would merge configurations in every call.
            body: dict[str, Any] = {"extra_body": {**(model.extra_body or {}), **fields}} if fields else {}
            return partial(model.ainvoke, config=quiet, **body)
        if mode is Mode.TEXT:
            return partial(model.ainvoke, config=quiet)
        if mode is Mode.TOOLS:
            bound = model.bind_tools([*(dict(tool) for tool in tools), answer_as_tool(schema)], tool_choice="any")
            return partial(bound.ainvoke, config=quiet)
        structured = model.with_structured_output(
            {"description": str(schema["title"]), **schema}, method=mode.value, include_raw=True
        )
        return partial((structured | RunnableLambda(lambda both: both["raw"])).ainvoke, config=quiet)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise ModeUnavailable(mode) from error


def _openai_fields(mode: Mode, schema: Schema, tools: Sequence[OpenAITool]) -> dict[str, Any]:
    if mode is Mode.TEXT:
        return {}
    if mode is Mode.TOOLS:
        offered = [*tools, answer_as_tool(schema)]
        return {"tools": offered, "tool_choice": "required", "parallel_tool_calls": False}
    if mode is Mode.JSON_MODE:
        return {"response_format": {"type": "json_object"}}
    body = {key: value for key, value in schema.items() if key != "title"}
    named = {"name": schema["title"], "strict": True, "schema": body}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def caches_by_breakpoints(model: BaseChatModel) -> bool:
    """Whether the provider caches only marked text. Other providers cache automatically or not at all."""
    return type(model).__module__.startswith("langchain_anthropic")


def with_breakpoints(messages: Sequence[BaseMessage], shared: int) -> list[BaseMessage]:
    system, user, *others = messages
    mark = {"type": "text", "cache_control": {"type": "ephemeral"}}
    if shared:
        rest = {"type": "text", "text": user.text[shared:]}
        user = HumanMessage([{**mark, "text": user.text[:shared]}, rest])
    return [SystemMessage([{**mark, "text": system.text}]), user, *others]


def answer_as_tool(schema: Schema) -> dict[str, Any]:
    return {"type": "function", "function": {"name": schema["title"], "parameters": loosened(schema)}}


@dataclass(frozen=True)
class ToolCall:
    name: str
    args: Mapping[str, Any] | str
    """The raw text if the model did not write valid JSON."""


@dataclass(frozen=True)
class ReplyToken:
    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True)
class Reply:
    text: str
    tool_calls: tuple[ToolCall, ...]
    refusal: str | None
    cut_off: bool
    prompt_tokens: int | None
    completion_tokens: int | None
    """The count is None if the server reported no number or an impossible one."""
    tokens: tuple[ReplyToken, ...] = ()
    cached_tokens: int = 0
    written_tokens: int = 0
    finish_reason: str = ""
    """Why the reply ended, in the provider's terms, or an empty string if this is unknown."""
    model: str = ""
    """The model that answered, as named by the server: for example `gpt-4o-2024-08-06` if `gpt-4o` was requested."""


def read_reply(message: BaseMessage) -> Reply:
    assert isinstance(message, AIMessage)
    finish = str(message.response_metadata.get("finish_reason") or message.response_metadata.get("stop_reason") or "")
    refusal = message.additional_kwargs.get("refusal")
    if finish == REFUSAL and not refusal:
        refusal = str(message.text)
    if finish in {"content_filter", REFUSAL} and not refusal:
        refusal = "stopped by the provider's content filter"
    usage = message.usage_metadata
    counts = () if usage is None else (usage["input_tokens"], usage["output_tokens"])
    reported = all(is_token_count(count) for count in counts) and any(counts)
    details: Mapping[str, Any] = {} if usage is None else usage.get("input_token_details") or {}
    cached = {kind: count for kind, count in details.items() if is_token_count(count)}
    read, written = cached.get("cache_read", 0), sum(cached.get(kind, 0) for kind in _WRITTEN)
    fits = reported and usage is not None and read + written <= usage["input_tokens"]
    broken = [ToolCall(str(call.get("name")), str(call.get("args"))) for call in message.invalid_tool_calls]
    return Reply(
        text=str(message.text),
        tool_calls=(*(ToolCall(call["name"], call["args"]) for call in message.tool_calls), *broken),
        refusal=str(refusal) if refusal else None,
        cut_off=finish in {"length", "max_tokens", "MAX_TOKENS"},
        prompt_tokens=usage["input_tokens"] if reported and usage else None,
        completion_tokens=usage["output_tokens"] if reported and usage else None,
        tokens=_tokens(message.response_metadata.get("logprobs")),
        cached_tokens=read if fits else 0,
        written_tokens=written if fits else 0,
        finish_reason=finish,
        model=str(message.response_metadata.get("model_name") or message.response_metadata.get("model") or ""),
    )


def _tokens(logprobs: Any) -> tuple[ReplyToken, ...]:
    decoder = _UTF8("replace")
    try:
        return tuple(_token(item, decoder) for item in (logprobs or {}).get("content") or ())
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
        return ()


def _token(item: Mapping[str, Any], decoder: codecs.IncrementalDecoder) -> ReplyToken:
    """Reads a token, from its bytes if there are any. A character split across tokens belongs to the last one."""
    said, spelled = str(item["token"]), item.get("bytes")
    text = said if spelled is None else decoder.decode(bytes(spelled))
    others = (one for one in item.get("top_logprobs") or () if one["token"] != said)
    return ReplyToken(
        text, {**{str(one["token"]): float(one["logprob"]) for one in others}, text: float(item["logprob"])}
    )


def is_heeded(mode: Mode, reply: Reply) -> bool:
    """Whether the reply has the form that the mode requires.

    The result is also True if the reply was cut off or refused, because it might have taken that form later: some
    models think aloud first.
    """
    if mode is Mode.TEXT or reply.refusal is not None or reply.cut_off:
        return True
    if mode is Mode.TOOLS:
        return bool(reply.tool_calls)
    return "{" in reply.text or not reply.text.strip()


def misshapen_reply(error: ValidationError) -> Reply:
    """Converts a reply that LangChain cannot represent, such as a tool call whose arguments are a number."""
    said = json.dumps(error.errors(include_url=False)[0]["input"], default=str)
    return Reply(said, tool_calls=(), refusal=None, cut_off=False, prompt_tokens=None, completion_tokens=None)
