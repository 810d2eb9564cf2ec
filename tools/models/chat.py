"""Builds chat models from names such as `openai:gpt-4o-mini`, through LangChain's `init_chat_model`."""

from __future__ import annotations

import hashlib
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatResult

from factloop.core.errors import ConfigError
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.models.completions import PlainCompletions, speak_plainly
from factloop.tools.models.prices import Price, model_price
from factloop.tools.models.wrapped import WrappedChatModel, mapped, models_in

if TYPE_CHECKING:
    from openai import AsyncOpenAI, DefaultAioHttpClient, DefaultHttpxClient

DEFAULT_PROVIDER = "openai"
OF_OPENAI = ("gpt-", "chatgpt", "o1", "o3", "o4")
ONLY_RESPONSES = ("-codex", "-pro")
"""Endings of OpenAI models that are not served by the chat-completions API."""
_ADDRESS_FIELDS = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "base_url", "endpoint_url")
"""Fields by which the providers' classes name their server, whether it came from an argument or the environment."""
_ADDRESS_VARIABLES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL"),
}
"""Variables by which the providers' classes find another server than the provider's own."""
HOSTS = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}
"""The providers' own servers."""
MARGIN_S = 5.0
"""The gateway's timeout fires first; the client's ends calls that are no longer awaited."""


@dataclass(frozen=True)
class ChatModel:
    """A chat model with what identifies it in caches and reports. Lives in one event loop."""

    model: BaseChatModel
    name: str
    identity: Mapping[str, Any]
    """Everything that shapes its answers: enters the cache key. Holds no secret."""
    price: Price | None
    max_tokens: int | None
    http: DefaultAioHttpClient | None = None
    persistent: bool = True
    """Whether `identity` says enough for answers to be kept beyond this process."""

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
    """The model that `provider:name` names. Costs nothing and touches no network. Raises ConfigError.

    With `replayed`, all its answers are recorded: it needs no key, no client and no provider's package, and has the
    identity of the model itself, but for an address from the environment.
    """
    provider, bare = _parts(name, base_url)
    full = f"{provider}:{bare}" if provider else bare
    settings = _sampling(temperature, max_tokens)
    if replayed:
        identity = {"model": full, "base_url": None if base_url is None else without_userinfo(base_url), **settings}
        return ChatModel(_ReplayOnlyModel(), full, identity, price or list_price(name, base_url), max_tokens)
    base_url = address_of_model(name, base_url)
    # Imported late, as half of what a check without a model would take to start.
    from langchain.chat_models import init_chat_model
    from langchain_openai import ChatOpenAI
    from openai import DefaultAioHttpClient, OpenAIError

    options: dict[str, Any] = {"max_retries": 0, "timeout": timeout_s + MARGIN_S, **settings}
    http: DefaultAioHttpClient | None = None
    if provider == "openai":
        # A client of our own: LangChain shares one among all event loops, where its connections cannot follow. On
        # aiohttp a call costs half the CPU: httpx's pool looks at every open connection for every request.
        http = DefaultAioHttpClient(timeout=timeout_s + MARGIN_S, verify=_authorities())
        options |= {"http_async_client": http, "http_client": _unused_client(), "stream_usage": True}
        if not bare.endswith(ONLY_RESPONSES):
            options["use_responses_api"] = False
        if base_url is not None:
            options["base_url"] = base_url
            if not os.environ.get("OPENAI_API_KEY"):
                options["api_key"] = "none"  # servers of one's own rarely want one, the client library insists
        elif not os.environ.get("OPENAI_API_KEY"):
            remedy = "set OPENAI_API_KEY or, for your own server, --base-url (base_url in a settings file)"
            raise ConfigError(f"model {name!r} needs a key: {remedy}")
    elif base_url is not None:
        options["base_url"] = base_url
    try:
        model = init_chat_model(bare, model_provider=provider or None, **options)
    except ImportError as error:
        raise ConfigError(f"model {name!r}: its provider's package is not installed ({error})") from error
    except (ValueError, OpenAIError) as error:
        said = " ".join(str(error).split())[:300].rstrip(".")
        hint = f" For an OpenAI-compatible server, write openai:{name}." if base_url is not None else ""
        raise ConfigError(f"model {name!r} cannot be set up: {said}.{hint}") from error
    if isinstance(model, ChatOpenAI) and model.use_responses_api is False:
        speak_plainly(model)
    identity = {"model": full, "base_url": _address(model), **settings}
    return ChatModel(model, full, identity, price or list_price(name, base_url), max_tokens, http)


@cache
def _authorities() -> ssl.SSLContext:
    """The certificates that this process trusts: reading them takes 30 ms, so that its clients share them."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


@cache
def _unused_client() -> DefaultHttpxClient:
    """LangChain insists on a client for calls that block, and would read the certificates again for its own."""
    from openai import DefaultHttpxClient

    return DefaultHttpxClient(verify=_authorities())


def address_of_model(name: str, base_url: str | None) -> str | None:
    """The address at which the model that `provider:name` names is asked: the one given, else that of the environment.

    None for the provider's own server. Raises ConfigError where it is not a valid address.
    """
    if base_url is not None:
        return base_url
    for variable in _ADDRESS_VARIABLES.get(_parts(name, base_url)[0], ()):
        if value := os.environ.get(variable):
            return checked_base_url(value, variable)
    return None


def list_price(name: str, base_url: str | None) -> Price | None:
    """The list price of the model that `provider:name` names at that address, or at that of the environment.

    None where it is not known: another server than the provider's does not charge its price. Raises ConfigError.
    """
    provider, bare = _parts(name, base_url)
    address = address_of_model(name, base_url)
    if address is not None and urlsplit(address).hostname != HOSTS.get(provider):
        return None
    return model_price(f"{provider}:{bare}")


class _ReplayOnlyModel(BaseChatModel):
    """Fails when called: a replay with a missing answer must end with an error, never ask a model."""

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise AssertionError("a replay asks no model")

    @property
    def _llm_type(self) -> str:
        return "replayed"


def _parts(name: str, base_url: str | None) -> tuple[str, str]:
    """Provider and name; no provider where LangChain is to guess it. Raises ConfigError where there is no name."""
    provider, _, bare = name.partition(":") if ":" in name else ("", "", name)
    if not bare.strip():
        raise ConfigError(f"model {name!r} has no name: write provider:name, for example openai:gpt-4o-mini")
    if not provider and (base_url is not None or bare.startswith(OF_OPENAI)):
        provider = DEFAULT_PROVIDER
    return provider, bare


def _sampling(temperature: float | None, max_tokens: int | None) -> dict[str, float]:
    wanted = {"temperature": temperature, "max_tokens": max_tokens}
    return {key: value for key, value in wanted.items() if value is not None}


def wrap_chat_model(model: BaseChatModel, *, price: Price | None = None) -> ChatModel:
    """A model that the user built, with its own settings but for its retries: the gateway's own count each request.

    Nothing tells two such models apart for certain, so their answers are kept for the life of the process only.
    """
    if isinstance(model, WrappedChatModel):
        each = [(wrap_chat_model(one, price=price), bound) for one, bound in models_in(model.runnable, {})]
        # What is bound may be a secret: it tells models apart, and is written nowhere.
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
    """The model with clients that do not retry by themselves, where it speaks to its server by OpenAI's library."""
    client: Any = getattr(model, "root_async_client", None)
    if client is None or not client.max_retries:
        return model
    once = client.with_options(max_retries=0)
    asks_by_it = getattr(getattr(model, "async_client", None), "_client", None) is client
    return asking_by(model, once) if asks_by_it else model


def asking_by(model: Any, client: AsyncOpenAI) -> BaseChatModel:
    """A model that speaks to its server by OpenAI's library, with another client."""
    is_plain = isinstance(model.async_client, PlainCompletions)
    completions: Any = PlainCompletions(client) if is_plain else client.chat.completions
    changed: BaseChatModel = model.model_copy(update={"root_async_client": client, "async_client": completions})
    return changed


def _address(model: BaseChatModel) -> str | None:
    """The address of the model's server, as far as its class says; without credentials."""
    for field in _ADDRESS_FIELDS:
        if value := getattr(model, field, None):
            return without_userinfo(str(value))
    return None
