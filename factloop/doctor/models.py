"""Tests a chat model with an obvious claim, and finds out which modes its server accepts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from factloop.agents.safe.model_stages import passages
from factloop.agents.safe.schemas import Assessment, SearchCall
from factloop.core.errors import ConfigError, ModelOutputError
from factloop.core.records import Evidence
from factloop.doctor.looking import WorkingPart
from factloop.doctor.records import ModelFound
from factloop.prompts.registry import PromptRegistry, RenderedPrompt
from factloop.setup.chat_model import reply_timeout_s
from factloop.setup.session import JSON_REPLY, REPAIR
from factloop.setup.settings import RunSettings
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import MemoryAnswers
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.context_length import context_tokens
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.logprobs import TOP_LOGPROBS
from factloop.tools.models.prices import unknown_price
from factloop.tools.models.schema import Offers
from factloop.tools.models.transport import Transport
from factloop.tools.models.wire import Mode

CLAIM = "Paris is the capital of France."
PASSAGE = "Paris is the capital and the largest city of France."
STAGE = "doctor"
SPOKEN = {
    Mode.TOOLS: "tool calls",
    Mode.JSON_SCHEMA: "JSON schema",
    Mode.JSON_MODE: "JSON with the schema in the prompt",
    Mode.TEXT: "plain text with the schema in the prompt",
}
_RETRY = RetryPolicy(attempts=2, timeout_attempts=1, patience_s=10.0)
"""There are few retries, because a person is waiting and frequent rejections are themselves worth reporting."""
_SEARCHES = Offers(
    {"web": "Search the web."}, SearchCall, Assessment, undecided=lambda one: one.verdict == "insufficient"
)


async def ask_model(
    settings: RunSettings, chat: ChatModel, prompts: PromptRegistry, meter: UsageMeter, *, may_search: bool
) -> WorkingPart:
    """Asks the model once without a search and, if `may_search` is set, once with one. Raises FactloopError."""
    if settings.limits_money and chat.price is None:
        raise ConfigError(unknown_price(chat.name))
    gateway = _gateway(settings, chat, prompts)
    unread: list[ModelOutputError] = []
    has_logprobs = False
    offers: Sequence[Offers[Any, Any] | None] = (_SEARCHES, None) if may_search else (None,)
    for offered in offers:
        try:
            answer = await gateway.ask_offering(
                _question(prompts, n_searches=0 if offered is None else 1),
                Assessment,
                offers=offered,
                stage=STAGE,
                meter=meter,
                top_logprobs=TOP_LOGPROBS,
            )
            has_logprobs |= bool(answer.tokens)
        except ModelOutputError as error:
            unread.append(error)
    if len(unread) == len(offers):
        raise unread[-1]
    found = ModelFound(
        with_tools=_mode(gateway, Mode.TOOLS) if may_search else None,
        alone=_mode(gateway, Mode.JSON_SCHEMA),
        unavailable=tuple(sorted(gateway.abilities.known.unavailable)),
        log_probabilities=has_logprobs,
        context_tokens=await context_tokens(chat),
        knows_price=chat.price is not None,
    )
    return WorkingPart(how=_how(found, n_unread=len(unread)), limits=_limits(settings, chat, found), model=found)


def _gateway(settings: RunSettings, chat: ChatModel, prompts: PromptRegistry) -> ModelGateway:
    transport = Transport(
        chat,
        json_reply=prompts[JSON_REPLY],
        limiter=Limiter(),
        budget=Budget(),
        retry=_RETRY,
        timeout_s=reply_timeout_s(settings, chat.identity.get("base_url")),
        rng=random.Random(0),
    )
    return ModelGateway(chat, transport, repair=prompts[REPAIR], answers=RunAnswers(MemoryAnswers()))


def _question(prompts: PromptRegistry, *, n_searches: int) -> RenderedPrompt:
    evidence = Evidence(
        id="1", source="factloop doctor", passage=PASSAGE, query="Paris", rank=1, retrieved_at=datetime.now(UTC)
    )
    return prompts["safe/assessment"].render(
        question=None,
        sentence=CLAIM,
        claim=CLAIM,
        evidence=passages([evidence]),
        asked=(),
        fruitless=(),
        left=str(n_searches),
    )


def _mode(gateway: ModelGateway, strongest: Mode) -> Mode:
    modes = list(Mode)
    return next(mode for mode in modes[modes.index(strongest) :] if gateway.abilities.offers(mode))


def _how(found: ModelFound, *, n_unread: int) -> tuple[str, ...]:
    said = [SPOKEN[found.alone]]
    if found.with_tools is Mode.TOOLS:
        said.insert(0, SPOKEN[Mode.TOOLS])
    elif found.with_tools is not None:
        said.append("no tool calls: the reply requests searches")
    said.append("log-probabilities" if found.log_probabilities else "no log-probabilities: verdicts have no score")
    if n_unread:
        said.append("one of two answers could not be parsed")
    return tuple(said)


def _limits(settings: RunSettings, chat: ChatModel, found: ModelFound) -> tuple[str, ...]:
    said = [] if found.context_tokens is None else [f"{found.context_tokens:,} tokens of context"]
    said += [] if settings.max_tokens is None else [f"{settings.max_tokens:,} per reply"]
    said.append(f"{reply_timeout_s(settings, chat.identity.get('base_url')):g} s per call")
    if not found.knows_price:
        said.append("no budget in USD, because the price is unknown; set --price-in and --price-out")
    return tuple(said)
