from __future__ import annotations

from dataclasses import replace

from langchain_core.language_models import BaseChatModel

from factloop.core.errors import ConfigError
from factloop.setup.settings import RunSettings
from factloop.tools.calls.urls import is_nearby
from factloop.tools.models.chat import ChatModel, address_of_model, build_chat_model, list_price, wrap_chat_model
from factloop.tools.models.prices import Price, unknown_price

NEARBY_S = 600.0
"""Timeout for a local server. Without a GPU, reading the prompt alone may take minutes."""


def build_model(
    settings: RunSettings, model: str | BaseChatModel, *, base_url: str | None, temperature: float | None
) -> ChatModel:
    """Builds the named model, or wraps a given one. Makes no network requests. Raises ConfigError."""
    price = stated_price(settings)
    if isinstance(model, BaseChatModel):
        chat = wrap_chat_model(model, price=price)
    else:
        chat = build_chat_model(
            model,
            base_url=base_url,
            temperature=temperature,
            max_tokens=settings.max_tokens,
            timeout_s=reply_timeout_s(settings, address_of_model(model, base_url)),
            price=price,
            replayed=settings.replays,
        )
    return replace(chat, price=_as_paid(settings, chat.price))


def _as_paid(settings: RunSettings, price: Price | None) -> Price | None:
    if price is None:
        return None
    cached = price.cached if settings.price_cached is None else settings.price_cached
    share = 1.0 - settings.batch_discount if settings.batch else 1.0
    return Price(share * price.prompt, share * price.completion, None if cached is None else share * cached)


def name_of_model(setting: str, model: object, kinds: tuple[type, ...] = (BaseChatModel,)) -> str | None:
    """The model's name, or None for a model object. Raises ConfigError for anything else."""
    if model is None or isinstance(model, (str, *kinds)):
        return model if isinstance(model, str) else None
    raise ConfigError(f"`{setting}` must be a name or a LangChain chat model, not {type(model).__name__}")


def reply_timeout_s(settings: RunSettings, address: str | None) -> float:
    """The timeout for a model at this URL. Unless the user set one, a local server gets a longer timeout."""
    if address is None or "timeout_s" in settings.model_fields_set or not is_nearby(address):
        return settings.timeout_s
    return max(NEARBY_S, settings.timeout_s)


def stated_price(settings: RunSettings) -> Price | None:
    """The price set by the user, if any. Raises ConfigError if only one of the two prices is set."""
    if settings.price_in is None and settings.price_out is None:
        return None
    if settings.price_in is None or settings.price_out is None:
        raise ConfigError("set both --price-in and --price-out (USD per million tokens), or neither")
    return Price(settings.price_in, settings.price_out)


def refuse_unknown_price(settings: RunSettings, model: object) -> None:
    """Raises ConfigError if the judging model's price is unknown. Call this if the cost is limited."""
    if isinstance(model, ChatModel | BaseChatModel):
        chat = model if isinstance(model, ChatModel) else wrap_chat_model(model, price=stated_price(settings))
        if chat.price is None:
            raise ConfigError(unknown_price(chat.name))
    elif isinstance(name := model or getattr(settings, "model", None), str):
        price_of(settings, name, getattr(settings, "base_url", None))


def price_of(settings: RunSettings, model: str, base_url: str | None) -> Price | None:
    """Returns None if unknown. Raises ConfigError if a limit needs an unknown price, or if only one price is set."""
    price = _as_paid(settings, stated_price(settings) or list_price(model, base_url))
    if price is None and settings.limits_money:
        raise ConfigError(unknown_price(model))
    return price
