"""Describes chat models in spans, following OpenTelemetry's conventions for generative AI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel

from factloop.tools.calls.tracing import Value
from factloop.tools.models.chat import HOSTS, ChatModel

SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
PROVIDERS = {
    "azure_ai": "azure.ai.inference",
    "azure_openai": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "ibm": "ibm.watsonx.ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}
"""LangChain's names of providers that the conventions spell differently."""
_CLASSES = {"AzureChatOpenAI": "azure_openai", "ChatBedrock": "bedrock", "ChatBedrockConverse": "bedrock_converse"}
"""Classes whose package does not reveal the provider."""
_OF_LANGCHAIN = re.compile(r"langchain_(?!core\b|community\b)(?P<provider>\w+)")
_PORTS = {"http": 80, "https": 443}


def request_values(chat: ChatModel, model: BaseChatModel | None = None) -> Mapping[str, Value]:
    """Returns the span values for the model, its provider, its server and its sampling.

    `model` is the model as it is called now, for example without a temperature that its server rejected.
    """
    asked = model or chat.model
    sampling = {name: getattr(asked, name, chat.identity.get(name)) for name in SAMPLING}
    return {
        **_named(chat.name, type(asked)),
        **_server(chat.identity.get("base_url"), chat.name.partition(":")[0]),
        **{f"gen_ai.request.{name}": value for name, value in sampling.items() if isinstance(value, int | float)},
    }


@cache
def _named(name: str, kind: type[BaseChatModel]) -> Mapping[str, Value]:
    """If the name has no provider, as for user-built models, the class's package determines the provider."""
    provider, sign, bare = name.partition(":")
    if not sign:
        package = kind.__module__.partition(".")[0]
        of_langchain = _OF_LANGCHAIN.fullmatch(package)
        provider = _CLASSES.get(kind.__name__, of_langchain["provider"] if of_langchain else package)
        bare = name
    return {"gen_ai.provider.name": PROVIDERS.get(provider, provider), "gen_ai.request.model": bare}


@cache
def _server(base_url: str | None, provider: str) -> Mapping[str, Value]:
    if base_url is None:
        host = HOSTS.get(provider)
        return {} if host is None else {"server.address": host, "server.port": _PORTS["https"]}
    parts = urlsplit(base_url)
    return {"server.address": parts.hostname, "server.port": parts.port or _PORTS.get(parts.scheme)}
