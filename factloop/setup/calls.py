"""What every call of one run shares: cache, budget, retries, pace; and the door to a chat model built on it."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from factloop.core.errors import ConfigError
from factloop.prompts.registry import PromptRegistry
from factloop.setup.caching.opening import open_answers
from factloop.setup.settings import RunSettings
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.patience import Patience
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.tape import Tape
from factloop.tools.models.chat import ChatModel, build_chat_model, replayed_chat_model, wrap_chat_model
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.prices import Price
from factloop.tools.models.transport import Transport

REPAIR, JSON_REPLY = "gateway/repair", "gateway/json_reply"
GATEWAY_PROMPTS = (REPAIR, JSON_REPLY)


@dataclass(frozen=True)
class Calls:
    """What the model calls and the searches of one run have in common."""

    cache: CallCache
    budget: Budget
    retry: RetryPolicy
    rng: random.Random
    timeout_s: float
    patience_s: float
    journal: bool
    tape: Tape | None = None


def open_calls(
    settings: RunSettings, *, seed: int, keeps: bool, journal: Path | None = None, tape: Tape | None = None
) -> Calls:
    """The run's cache and limits. With a `journal` or a `tape`, answers are kept there and nowhere else.

    Otherwise `keeps` says whether the answers of this run are worth keeping beyond it. Raises ConfigError, also where
    the settings name a recording and this run has none: it would ask live what the user wants replayed.
    """
    if settings.recording is not None and tape is None:
        raise ConfigError(f"recording = {str(settings.recording)!r}: this run cannot be recorded or replayed")
    if journal is not None and tape is not None:
        raise ConfigError("a run has a run directory or a recording, not both: each keeps all its answers")
    is_shared = keeps and journal is None and tape is None
    calls = Calls(
        cache=open_answers(settings) if is_shared else CallCache(journal),
        budget=Budget(max_calls=settings.max_calls, max_usd=settings.budget_usd),
        retry=retry_policy(settings),
        rng=random.Random(seed),
        timeout_s=settings.timeout_s,
        patience_s=settings.patience_s,
        journal=journal is not None,
        tape=tape,
    )
    if calls.journal:
        calls.budget.note_earlier(*calls.cache.paid())
    return calls


def retry_policy(settings: RunSettings) -> RetryPolicy:
    """What one call may take. A server may ask for pauses as long as the run is patient with it."""
    usual = RetryPolicy()
    return replace(usual, patience_s=max(usual.patience_s, settings.patience_s))


def build_model(
    settings: RunSettings, model: str | BaseChatModel, *, base_url: str | None, temperature: float | None
) -> ChatModel:
    """The chat model of that name, or the one that the caller built. Touches no network. Raises ConfigError."""
    price = stated_price(settings)
    if isinstance(model, BaseChatModel):
        return wrap_chat_model(model, price=price)
    build = replayed_chat_model if settings.replays else build_chat_model
    return build(
        model,
        base_url=base_url,
        temperature=temperature,
        max_tokens=settings.max_tokens,
        timeout_s=settings.timeout_s,
        price=price,
    )


def stated_price(settings: RunSettings) -> Price | None:
    """The price that the user gave. Raises ConfigError for half of one."""
    if settings.price_in is None and settings.price_out is None:
        return None
    if settings.price_in is None or settings.price_out is None:
        raise ConfigError("give both --price-in and --price-out (USD per million tokens), or neither")
    return Price(settings.price_in, settings.price_out)


def build_gateway(
    settings: RunSettings,
    chat: ChatModel,
    prompts: PromptRegistry,
    calls: Calls,
    *,
    use_tools: bool = True,
    before: Callable[[], Awaitable[None]] | None = None,
) -> ModelGateway:
    """The door to a chat model. `before` is awaited ahead of every request. Raises ConfigError."""
    transport = Transport(
        chat,
        json_reply=prompts[JSON_REPLY],
        limiter=Limiter(concurrency=settings.concurrency or None, requests_per_second=settings.requests_per_second),
        budget=calls.budget,
        retry=calls.retry,
        timeout_s=calls.timeout_s,
        rng=calls.rng,
        use_tools=use_tools,
        before=before,
        patience=Patience(chat.name, settings.patience_s),
    )
    return ModelGateway(
        chat, transport, repair=prompts[REPAIR], cache=calls.cache, journal=calls.journal, tape=calls.tape
    )
