"""Puts a run together: which stages judge, what searches, and the shared limits between them and the world."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from langchain_core.language_models import BaseChatModel

import factloop
from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan
from factloop.agents.safe.model_stages import FUSED_PROMPTS, PAPER_PROMPTS, ModelFusedStages, ModelPaperStages
from factloop.agents.safe.offline import OfflineFusedStages, OfflinePaperStages
from factloop.agents.safe.paper import PaperPlan
from factloop.calls import GATEWAY_PROMPTS, build_gateway, build_model, open_calls, stated_price
from factloop.cascading.stage import Cascade, load_cascade
from factloop.errors import ConfigError
from factloop.local import build_embedder
from factloop.prompts.registry import PromptRegistry
from factloop.records import Fingerprint
from factloop.settings import CheckSettings
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.tape import Tape
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.search.base import SearchTool
from factloop.tools.search.gateway import SearchGateway

LIBRARIES = ("langchain-core", "langchain-openai", "langgraph", "openai", "simplemma", "spacy", "tantivy", "text2num")


@dataclass(frozen=True)
class Setup:
    """What a run will be made of, before anything is opened: enough to name it and to estimate its cost."""

    settings: CheckSettings
    tools: Sequence[SearchTool]
    prompts: PromptRegistry
    chat: ChatModel | None
    fingerprint: Fingerprint
    tape: Tape | None = None
    cascade: Cascade | None = None


@dataclass(frozen=True)
class Engine:
    """One run's machinery. Lives in one event loop."""

    plan_for: Callable[[UsageMeter, Sequence[SearchTool]], SafePlan]
    """The plan over these tools, with its calls charged to the given account."""
    searching: SearchGateway
    fingerprint: Fingerprint
    cache: CallCache
    chat: ChatModel | None
    prompts: PromptRegistry
    gateway: ModelGateway | None
    """The door to `chat`, under the run's limits."""
    cascade: Cascade | None = None

    def over(self, tools: Sequence[SearchTool]) -> Engine:
        """The same machinery, limits and budget, with other tools to search."""
        identities = tuple(tool.identity for tool in tools)
        return replace(
            self,
            searching=self.searching.over(tools),
            fingerprint=self.fingerprint.model_copy(update={"search_tools": identities}),
        )

    async def aclose(self) -> None:
        self.cache.close()
        if self.chat is not None:
            await self.chat.aclose()


def prepare(
    settings: CheckSettings,
    tools: Sequence[SearchTool],
    *,
    model: BaseChatModel | ChatModel | None = None,
    tape: Tape | None = None,
) -> Setup:
    """The set-up for these settings. Touches no network. Raises ConfigError.

    `model` is a chat model that the caller built, and closes; otherwise `settings.model` names one, or the offline
    engine runs.
    """
    chat = _chat_model(settings, model)
    prompts = PromptRegistry.load(settings.prompts)
    cascade = load_cascade(settings, has_model=chat is not None)
    fingerprint = _fingerprint(settings, chat, tools, prompts)
    if cascade is not None:
        fingerprint = fingerprint.model_copy(update={"cascade": cascade.fingerprint})
    return Setup(settings, tools, prompts, chat, fingerprint, tape, cascade)


def build_engine(setup: Setup, *, journal: Path | None = None) -> Engine:
    """The engine of a set-up. With a `journal`, answers are kept there and nowhere else. Raises ConfigError."""
    settings, chat = setup.settings, setup.chat
    searches_elsewhere = any(tool.cacheable for tool in setup.tools)
    keeps = chat.persistent if chat is not None else searches_elsewhere
    calls = open_calls(settings, seed=settings.seed, keeps=keeps, journal=journal, tape=setup.tape)
    searching = SearchGateway(
        setup.tools,
        results=settings.results_per_search,
        cache=calls.cache,
        budget=calls.budget,
        retry=calls.retry,
        timeout_s=calls.timeout_s,
        rng=calls.rng,
        journal=calls.journal,
        tape=calls.tape,
    )
    gateway: ModelGateway | None = None
    if chat is None:
        plan_for = _offline_plan(settings)
    else:
        gateway = build_gateway(
            settings, chat, setup.prompts, calls, use_tools=settings.tool_calling, before=searching.reach
        )
        plan_for = _model_plan(settings, gateway, setup.prompts)
    return Engine(plan_for, searching, setup.fingerprint, calls.cache, chat, setup.prompts, gateway, setup.cascade)


def _chat_model(settings: CheckSettings, model: BaseChatModel | ChatModel | None) -> ChatModel | None:
    stated_price(settings)  # half a price is wrong even where no model will use it
    if isinstance(model, ChatModel):
        return replace(model, http=None)  # lent: whoever built it closes its connections
    if model is not None or settings.model is not None:
        wanted = model if model is not None else settings.model
        assert wanted is not None
        return build_model(settings, wanted, base_url=settings.base_url, temperature=settings.temperature)
    if settings.base_url is not None:
        raise ConfigError("--base-url is given but no --model: name one, for example openai:NAME")
    return None


def _model_plan(
    settings: CheckSettings, gateway: ModelGateway, prompts: PromptRegistry
) -> Callable[[UsageMeter, Sequence[SearchTool]], SafePlan]:
    if settings.plan == "paper":
        return lambda meter, tools: PaperPlan(ModelPaperStages(gateway, prompts, meter, tools))
    return lambda meter, tools: FusedPlan(ModelFusedStages(gateway, prompts, meter, tools))


def _offline_plan(settings: CheckSettings) -> Callable[[UsageMeter, Sequence[SearchTool]], SafePlan]:
    from factloop.tools.linguistics.pipeline import load_pipeline
    from factloop.tools.verifiers.lexical import LexicalVerifier

    verifier = LexicalVerifier(build_embedder(settings))
    nlp = load_pipeline(settings.spacy_model) if settings.spacy_model is not None else None
    if settings.plan == "paper":
        paper = PaperPlan(OfflinePaperStages(verifier, nlp))
        return lambda _meter, _tools: paper
    fused = FusedPlan(OfflineFusedStages(verifier, nlp))
    return lambda _meter, _tools: fused


def _fingerprint(
    settings: CheckSettings, chat: ChatModel | None, tools: Sequence[SearchTool], prompts: PromptRegistry
) -> Fingerprint:
    used = () if chat is None else (*(PAPER_PROMPTS if settings.plan == "paper" else FUSED_PROMPTS), *GATEWAY_PROMPTS)
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
