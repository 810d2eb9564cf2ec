"""Puts a run together: which stages judge, what searches, and the shared limits between them and the world."""

from __future__ import annotations

import importlib.metadata
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

import factloop
from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan
from factloop.agents.safe.model_stages import FUSED_PROMPTS, PAPER_PROMPTS, ModelFusedStages, ModelPaperStages
from factloop.agents.safe.offline import OfflineFusedStages, OfflinePaperStages
from factloop.agents.safe.paper import PaperPlan
from factloop.errors import ConfigError
from factloop.prompts.registry import PromptRegistry
from factloop.records import Fingerprint
from factloop.settings import CheckSettings
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.models.chat import ChatModel, build_chat_model, wrap_chat_model
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.prices import Price
from factloop.tools.models.transport import Transport
from factloop.tools.search.base import SearchTool
from factloop.tools.search.gateway import SearchGateway

REPAIR, JSON_REPLY = "gateway/repair", "gateway/json_reply"
LIBRARIES = ("langchain-core", "langchain-openai", "langgraph", "openai", "simplemma", "spacy", "tantivy", "text2num")


@dataclass(frozen=True)
class Setup:
    """What a run will be made of, before anything is opened: enough to name it and to estimate its cost."""

    settings: CheckSettings
    tools: Sequence[SearchTool]
    prompts: PromptRegistry
    chat: ChatModel | None
    fingerprint: Fingerprint


@dataclass(frozen=True)
class Engine:
    """One run's machinery. Lives in one event loop."""

    plan_for: Callable[[UsageMeter], SafePlan]
    """The plan, with its calls charged to the given account."""
    searching: SearchGateway
    fingerprint: Fingerprint
    cache: CallCache
    chat: ChatModel | None

    async def aclose(self) -> None:
        self.cache.close()
        if self.chat is not None:
            await self.chat.aclose()


@dataclass(frozen=True)
class _Shared:
    """What the model calls and the searches of one run have in common."""

    cache: CallCache
    budget: Budget
    retry: RetryPolicy
    rng: random.Random
    timeout_s: float
    journal: bool


def prepare(settings: CheckSettings, tools: Sequence[SearchTool], *, model: BaseChatModel | None = None) -> Setup:
    """The set-up for these settings. Touches no network. Raises ConfigError.

    `model` is a chat model that the caller built; otherwise `settings.model` names one, or the offline engine runs.
    """
    chat = _chat_model(settings, model)
    prompts = PromptRegistry.load(settings.prompts)
    return Setup(settings, tools, prompts, chat, _fingerprint(settings, chat, tools, prompts))


def build_engine(setup: Setup, *, journal: Path | None = None) -> Engine:
    """The engine of a set-up. With a `journal`, answers are kept there and nowhere else. Raises ConfigError."""
    settings, chat = setup.settings, setup.chat
    searches_elsewhere = any(tool.cacheable for tool in setup.tools)
    keeps = settings.cache and (chat.persistent if chat is not None else searches_elsewhere)
    shared = _Shared(
        cache=CallCache(journal or (cache_folder(settings) / "calls.sqlite" if keeps else None)),
        budget=Budget(max_calls=settings.max_calls, max_usd=settings.budget_usd),
        retry=RetryPolicy(),
        rng=random.Random(settings.seed),
        timeout_s=settings.timeout_s,
        journal=journal is not None,
    )
    if shared.journal:
        shared.budget.note_earlier(*shared.cache.paid())
    searching = SearchGateway(
        setup.tools,
        results=settings.results_per_search,
        cache=shared.cache,
        budget=shared.budget,
        retry=shared.retry,
        timeout_s=shared.timeout_s,
        rng=shared.rng,
        journal=shared.journal,
    )
    if chat is None:
        plan_for = _offline_plan(settings)
    else:
        gateway = _gateway(settings, chat, setup.prompts, shared, before=searching.reach)
        plan_for = _model_plan(settings, gateway, setup.prompts, setup.tools)
    return Engine(plan_for, searching, setup.fingerprint, shared.cache, chat)


def cache_folder(settings: CheckSettings) -> Path:
    """Where answers and document indexes are kept."""
    if settings.cache_dir is not None:
        return settings.cache_dir
    import platformdirs

    return Path(platformdirs.user_cache_dir("factloop", appauthor=False))


def _chat_model(settings: CheckSettings, model: BaseChatModel | None) -> ChatModel | None:
    price = None
    if settings.price_in is not None or settings.price_out is not None:
        if settings.price_in is None or settings.price_out is None:
            raise ConfigError("give both --price-in and --price-out (USD per million tokens), or neither")
        price = Price(settings.price_in, settings.price_out)
    if model is not None:
        return wrap_chat_model(model, price=price)
    if settings.model is None:
        if settings.base_url is not None:
            raise ConfigError("--base-url is given but no --model: name one, for example openai:NAME")
        return None
    return build_chat_model(
        settings.model,
        base_url=settings.base_url,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        timeout_s=settings.timeout_s,
        price=price,
    )


def _gateway(
    settings: CheckSettings,
    chat: ChatModel,
    prompts: PromptRegistry,
    shared: _Shared,
    *,
    before: Callable[[], Awaitable[None]],
) -> ModelGateway:
    transport = Transport(
        chat,
        json_reply=prompts[JSON_REPLY],
        limiter=Limiter(concurrency=settings.concurrency or None, requests_per_second=settings.requests_per_second),
        budget=shared.budget,
        retry=shared.retry,
        timeout_s=shared.timeout_s,
        rng=shared.rng,
        use_tools=settings.tool_calling,
        before=before,
    )
    return ModelGateway(
        chat,
        transport,
        repair=prompts[REPAIR],
        cache=shared.cache,
        journal=shared.journal,
    )


def _model_plan(
    settings: CheckSettings, gateway: ModelGateway, prompts: PromptRegistry, tools: Sequence[SearchTool]
) -> Callable[[UsageMeter], SafePlan]:
    if settings.plan == "paper":
        return lambda meter: PaperPlan(ModelPaperStages(gateway, prompts, meter, tools))
    return lambda meter: FusedPlan(ModelFusedStages(gateway, prompts, meter, tools))


def _offline_plan(settings: CheckSettings) -> Callable[[UsageMeter], SafePlan]:
    from factloop.tools.linguistics.pipeline import load_pipeline
    from factloop.tools.verifiers.lexical import LexicalVerifier

    verifier = LexicalVerifier(build_embedder(settings))
    nlp = load_pipeline(settings.spacy_model) if settings.spacy_model is not None else None
    if settings.plan == "paper":
        paper = PaperPlan(OfflinePaperStages(verifier, nlp))
        return lambda _: paper
    fused = FusedPlan(OfflineFusedStages(verifier, nlp))
    return lambda _: fused


def build_embedder(settings: CheckSettings) -> Any:
    """The embedding model that the settings name, or None."""
    if settings.embeddings is None:
        return None
    from factloop.tools.embeddings.sentence import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(settings.embeddings)


def _fingerprint(
    settings: CheckSettings, chat: ChatModel | None, tools: Sequence[SearchTool], prompts: PromptRegistry
) -> Fingerprint:
    used = () if chat is None else (*(PAPER_PROMPTS if settings.plan == "paper" else FUSED_PROMPTS), REPAIR, JSON_REPLY)
    engine: Literal["model", "offline"] = "offline" if chat is None else "model"
    identity = dict(chat.identity) if chat is not None else {}
    return Fingerprint(
        factloop_version=factloop.__version__,
        engine=engine,
        model=chat.name if chat is not None else None,
        base_url=identity.get("base_url"),
        sampling={key: value for key, value in identity.items() if key not in {"model", "base_url"}},
        plan=settings.plan,
        max_searches=settings.max_searches,
        results_per_search=settings.results_per_search,
        search_tools=tuple(tool.identity for tool in tools),
        embeddings=settings.embeddings,
        spacy_model=settings.spacy_model,
        tool_calling=settings.tool_calling,
        prompts=prompts.hashes(used),
        versions={name: importlib.metadata.version(name) for name in LIBRARIES},
        seed=settings.seed,
    )
