from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import AnswersKept, CallCache, MemoryAnswers
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.transport import Transport
from tests.tools.models.chat_server import Json


@dataclass
class Talk:
    """A gateway and its dependencies, as one run has them."""

    gateway: ModelGateway
    chat: ChatModel
    cache: AnswersKept
    budget: Budget
    meter: UsageMeter = field(default_factory=UsageMeter)


def talk_to(
    chat: ChatModel,
    *,
    cache: Path | AnswersKept | None = None,
    journal: bool = False,
    use_tools: bool = True,
    timeout_s: float = 5.0,
    max_calls: int | None = None,
    max_usd: float | None = None,
    concurrency: int | None = None,
    retry: RetryPolicy | None = None,
) -> Talk:
    prompts = PromptRegistry.load()
    budget = Budget(max_calls=max_calls, max_usd=max_usd)
    transport = Transport(
        chat,
        json_reply=prompts["gateway/json_reply"],
        limiter=Limiter(concurrency=concurrency),
        budget=budget,
        retry=retry or RetryPolicy(base_s=0.001),
        timeout_s=timeout_s,
        rng=random.Random(0),
        use_tools=use_tools,
    )
    kept = CallCache(cache) if isinstance(cache, Path) else cache or MemoryAnswers()
    if journal:
        assert isinstance(kept, CallCache)
        budget.note_earlier(*kept.paid())
    gateway = ModelGateway(chat, transport, repair=prompts["gateway/repair"], answers=RunAnswers(kept, journal=journal))
    return Talk(gateway, chat, kept, budget)


Connect = Callable[..., Awaitable[Talk]]


@asynccontextmanager
async def talking(chat: ChatModel, options: Json) -> AsyncIterator[Talk]:
    talk = talk_to(chat, **options)
    try:
        yield talk
    finally:
        talk.cache.close()
        await chat.aclose()
