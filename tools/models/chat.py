"""Builds chat models from names such as `openai:gpt-4o-mini`, using LangChain's `init_chat_model`."""

from __future__ import annotations

import hashlib
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatResult

from factloop.core.errors import ConfigError, ModelOutputError, ToolError
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.models.completions import PlainCompletions, speak_plainly
from factloop.tools.models.prices import Price, model_price
from factloop.tools.models.wrapped import WrappedChatModel, mapped, models_in

if TYPE_CHECKING:
    from openai import AsyncOpenAI, DefaultAioHttpClient, DefaultHttpxClient

DEFAULT_PROVIDER = "openai"
OF_OPENAI = ("gpt-", "chatgpt", "o1", "o3", "o4")
ONLY_RESPONSES = ("-codex", "-pro")
"""Endings of the names of OpenAI models that the chat-completions API does not serve."""
_ADDRESS_FIELDS = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "base_url", "endpoint_url")
_ADDRESS_VARIABLES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL"),
}
HOSTS = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}
LEAST_BOUND, BYTES_PER_TOKEN, UNLIMITED_TOKENS = 4_000_000, 1_000, 16_000
"""A reply may have `LEAST_BOUND` bytes, or more if the model's token limit is high. A token with five alternatives
takes about 700 bytes. A decoded reply may take 50 times as much memory as its bytes.
"""
MARGIN_S = 5.0
"""Seconds by which the client's timeout, which ends abandoned calls, exceeds the gateway's."""


@dataclass(frozen=True)
class ChatModel:
    """A chat model, with its identity for caches and reports. It is bound to one event loop."""

    model: BaseChatModel
    name: str
    identity: Mapping[str, Any]
    """Everything that affects the model's answers, except secrets. Part of the cache key."""
    price: Price | None
    max_tokens: int | None
    http: DefaultAioHttpClient | None = None
    persistent: bool = True
    """Whether `identity` is specific enough to store answers beyond this process."""

    async def aclose(self) -> None:
        if self.http is not None:
            await self.http.aclose()


def build_chat_model(
    name: str,
    *,
    base_url: str | None = None,
    temperature: float | None = 0.1,
    max_tokens: int | None = 1024,
    timeout_s: float = 60.0,
    price: Price | None = None,
    replayed: bool = False,
) -> ChatModel:
    """Builds the model `provider:name`, free of charge and without using the network. Raises ConfigError.

    With `replayed`, all answers come from a recording, so no key, client or provider package is needed. The identity is
    that of the real model, except for a URL from the environment.
    """
    provider, bare = _parts(name, base_url)
    full = f"{provider}:{bare}" if provider else bare
    settings = _sampling(temperature, max_tokens)
    if replayed:
        identity = {"model": full, "base_url": None if base_url is None else without_userinfo(base_url), **settings}
        return ChatModel(_ReplayOnlyModel(), full, identity, price or list_price(name, base_url), max_tokens)
    base_url = address_of_model(name, base_url)
    # Imported late, because a check without a model would otherwise take twice as long to start.
    from langchain.chat_models import init_chat_model
    from langchain_openai import ChatOpenAI
    from openai import DefaultAioHttpClient, OpenAIError

    options: dict[str, Any] = {"max_retries": 0, "timeout": timeout_s + MARGIN_S, **settings}
    http: DefaultAioHttpClient | None = None
    if provider == "openai":
        # LangChain would share one client across all event loops, but connections belong to one loop.
        # With aiohttp, a call takes half the CPU time, because httpx's pool checks every connection for every request.
        most_bytes = LEAST_BOUND + BYTES_PER_TOKEN * (max_tokens or UNLIMITED_TOKENS)
        hooks: dict[str, list[Any]] = {"response": [partial(_read_whole, full, most_bytes)]}
        http = DefaultAioHttpClient(timeout=timeout_s + MARGIN_S, verify=_authorities(), event_hooks=hooks)
        options |= {"http_async_client": http, "http_client": _unused_client(), "stream_usage": True}
        if not bare.endswith(ONLY_RESPONSES):
            options["use_responses_api"] = False
        if base_url is not None:
            options["base_url"] = base_url
            if not os.environ.get("OPENAI_API_KEY"):
                options["api_key"] = "none"  # the client library requires a key, even if the user's server does not
        elif not os.environ.get("OPENAI_API_KEY"):
            remedy = "set OPENAI_API_KEY or, for your own server, `--base-url` (`base_url` in a settings file)"
            raise ConfigError(f"model {name!r} needs a key; {remedy}")
    elif base_url is not None:
        options["base_url"] = base_url
    try:
        model = init_chat_model(bare, model_provider=provider or None, **options)
    except ImportError as error:
        raise ConfigError(f"model {name!r} needs its provider's package, which is not installed ({error})") from error
    except (ValueError, OpenAIError) as error:
        said = " ".join(str(error).split())[:300].rstrip(".")
        hint = f" For an OpenAI-compatible server, use openai:{name}." if base_url is not None else ""
        raise ConfigError(f"cannot set up the model {name!r}: {said}.{hint}") from error
    if isinstance(model, ChatOpenAI) and model.use_responses_api is False:
        speak_plainly(model)
    identity = {"model": full, "base_url": _address(model), **settings}
    return ChatModel(model, full, identity, price or list_price(name, base_url), max_tokens, http)


async def _read_whole(model: str, most_bytes: int, response: Any) -> None:
    """Reads a reply unless it is streamed. Raises ModelOutputError if the reply might use up the memory, and ToolError
    if the server redirects the prompt to another server.
    """
    if response.has_redirect_location:
        target, status = response.url.join(response.headers["location"]), response.status_code
        if (target.host, target.port) != (response.url.host, response.url.port):
            raise ToolError(f"{model}: redirects to another server, {target.host}", tool=model, status=status)
    is_file = response.request.headers.get("content-type") != "application/json"  # a batch's file, which may be large
    if is_file or b'"stream":true' in response.request.content:  # a prompt cannot contain this, as quotes are escaped
        return
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > most_bytes:
            raise ModelOutputError(f"the reply is larger than {most_bytes:,} bytes", schema=model, reply="")
    response._content = bytes(body)


@cache
def _authorities() -> ssl.SSLContext:
    """All clients share the result, because reading the certificates takes 30 ms."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


@cache
def _unused_client() -> DefaultHttpxClient:
    """A client for blocking calls, which LangChain requires. LangChain's own would reload the certificates."""
    from openai import DefaultHttpxClient

    return DefaultHttpxClient(verify=_authorities())


def address_of_model(name: str, base_url: str | None) -> str | None:
    """Returns the URL at which to call the model `provider:name`: `base_url`, or the URL in the environment.

    Returns None for the provider's own server. Raises ConfigError if the URL is not valid.
    """
    if base_url is not None:
        return base_url
    for variable in _ADDRESS_VARIABLES.get(_parts(name, base_url)[0], ()):
        if value := os.environ.get(variable):
            return checked_base_url(value, variable)
    return None


def list_price(name: str, base_url: str | None) -> Price | None:
    """Returns the list price of `provider:name`, or None for unknown models and for servers other than the provider's.

    Raises ConfigError.
    """
    provider, bare = _parts(name, base_url)
    address = address_of_model(name, base_url)
    if address is not None and urlsplit(address).hostname != HOSTS.get(provider):
        return None
    return model_price(f"{provider}:{bare}")


class _ReplayOnlyModel(BaseChatModel):
    """A replay that lacks an answer must fail instead of calling a model."""

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise AssertionError("a replay must not call a model")

    @property
    def _llm_type(self) -> str:
        return "replayed"


def _parts(name: str, base_url: str | None) -> tuple[str, str]:
    provider, _, bare = name.partition(":") if ":" in name else ("", "", name)
    if not bare.strip():
        raise ConfigError(f"model {name!r} has no name; use `provider:name`, for example `openai:gpt-4o-mini`")
    if not provider and (base_url is not None or bare.startswith(OF_OPENAI)):
        provider = DEFAULT_PROVIDER
    return provider, bare


def _sampling(temperature: float | None, max_tokens: int | None) -> dict[str, float]:
    wanted = {"temperature": temperature, "max_tokens": max_tokens}
    return {key: value for key, value in wanted.items() if value is not None}


def wrap_chat_model(model: BaseChatModel, *, price: Price | None = None) -> ChatModel:
    """Wraps a model built by the user. The model keeps its settings, except for retries, which the gateway handles.

    Two such models may differ without our noticing, so answers are stored only within this process.
    """
    if isinstance(model, WrappedChatModel):
        each = [(wrap_chat_model(one, price=price), bound) for one, bound in models_in(model.runnable, {})]
        # Bound values may be secret, so only their hash is stored to tell the models apart.
        within = [[dict(one.identity), hashlib.sha256(repr(bound).encode()).hexdigest()[:16]] for one, bound in each]
        first = each[0][0]
        identity = {"model": first.name, "base_url": first.identity.get("base_url"), "wrapped": within}
        once = WrappedChatModel(runnable=mapped(model.runnable, _asking_once))
        return replace(first, model=once, identity=identity)
    name = str(getattr(model, "model_name", None) or getattr(model, "model", None) or type(model).__name__)
    plain = {field: getattr(model, field, None) for field in ("temperature", "max_tokens", "seed")}
    identity = {
        "class": f"{type(model).__module__}.{type(model).__qualname__}",
        "model": name,
        "base_url": _address(model),
        **{field: value for field, value in plain.items() if isinstance(value, int | float)},
    }
    max_tokens = plain["max_tokens"]
    return ChatModel(
        _asking_once(model),
        name,
        identity,
        price,
        max_tokens if isinstance(max_tokens, int) else None,
        persistent=False,
    )


def _asking_once(model: BaseChatModel) -> BaseChatModel:
    client: Any = getattr(model, "root_async_client", None)
    if client is None or not client.max_retries:
        return model
    once = client.with_options(max_retries=0)
    asks_by_it = getattr(getattr(model, "async_client", None), "_client", None) is client
    return asking_by(model, once) if asks_by_it else model


def asking_by(model: Any, client: AsyncOpenAI) -> BaseChatModel:
    is_plain = isinstance(model.async_client, PlainCompletions)
    completions: Any = PlainCompletions(client) if is_plain else client.chat.completions
    changed: BaseChatModel = model.model_copy(update={"root_async_client": client, "async_client": completions})
    return changed


def _address(model: BaseChatModel) -> str | None:
    for field in _ADDRESS_FIELDS:
        if value := getattr(model, field, None):
            return without_userinfo(str(value))
    return None
