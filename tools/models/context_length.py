"""Lists the models that a server offers, and reads their context lengths from llama.cpp, vLLM and OpenRouter."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel, Field, SecretStr, ValidationError

from factloop.core.errors import ToolError
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.models.chat import ChatModel

WITHIN_S = 10.0
MOST_TOKENS = 100_000_000
"""Ten times as many as any model accepts. A larger number is a mistake by the server."""


class _Meta(BaseModel):
    n_ctx: int | None = None
    """From llama.cpp: the context length set when the server was started, which may be less than the model's."""


class _ListedModel(BaseModel):
    id: str
    aliases: list[str] | None = None
    """From llama.cpp, which lists a model only once even if it has several names."""
    meta: _Meta | None = None
    max_model_len: int | None = None
    context_length: int | None = None


class _Models(BaseModel):
    data: list[_ListedModel] = Field(default_factory=list)


async def context_tokens(chat: ChatModel) -> int | None:
    """Returns the maximum number of tokens in a prompt and its reply, or None if it is not reported. Costs nothing."""
    listed, name = await _listed(chat), getattr(chat.model, "model_name", "")
    one = next((model for model in listed if name in (model.id, *(model.aliases or ()))), None)
    if one is None:
        return None
    said = (one.meta.n_ctx if one.meta else None, one.max_model_len, one.context_length)
    return next((number for number in said if number is not None and 0 < number <= MOST_TOKENS), None)


async def listed_names(chat: ChatModel) -> tuple[str, ...]:
    """Returns the names of the models that the server lists, or an empty tuple if there is no list. Costs nothing."""
    return tuple(model.id for model in await _listed(chat))


async def _listed(chat: ChatModel) -> list[_ListedModel]:
    from langchain_openai.chat_models.base import BaseChatOpenAI  # imported late, because it is rarely needed

    if not isinstance(chat.model, BaseChatOpenAI) or not chat.model.openai_api_base:
        return []
    return await asyncio.to_thread(_list_of, chat.model.openai_api_base, _key(chat.model))


def _key(model: Any) -> str:
    key = model.openai_api_key
    return key.get_secret_value() if isinstance(key, SecretStr) else ""


def _list_of(base_url: str, key: str) -> list[_ListedModel]:
    client = JsonClient(
        tool="models",
        base_url=base_url.rstrip("/"),
        timeout_s=WITHIN_S,
        secret_headers={"Authorization": f"Bearer {key}"} if key else None,
    )
    try:
        return _Models.model_validate(client.get("/models", {})).data
    except (ToolError, ValidationError):  # the list is optional, and not all servers have one
        return []
