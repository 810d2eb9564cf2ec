"""Puts a run together: which stages judge, what searches, and the shared limits between them and the world."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

import factloop
from factloop.agents.safe.context import SafeGraph
from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan, build_safe_graph
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.model_stages import (
    FUSED_PROMPTS,
    GROUNDED_PROMPTS,
    PAPER_PROMPTS,
    ModelGroundedStages,
    ModelPaperStages,
)
from factloop.agents.safe.offline import OfflineFusedStages, OfflinePaperStages
from factloop.agents.safe.paper import PaperPlan
from factloop.checking.cascade.stage import Cascade, load_cascade
from factloop.core.errors import ConfigError
from factloop.core.records import Fingerprint, Plan
from factloop.prompts.registry import PromptRegistry
from factloop.setup.calls import GATEWAY_PROMPTS, build_gateway, build_model, open_calls, stated_price
from factloop.setup.embedding_model import build_embedder
from factloop.setup.marks import marked
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.cache import CallCache
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
    gates: bool = True


class Graphs:
    """The graphs of one engine, each compiled when it is first needed and kept for all checks."""

    def __init__(self, plan_of: Callable[[Plan], SafePlan], settings: CheckSettings, cascade: Cascade | None) -> None:
        self._plan_of, self._max_searches = plan_of, settings.max_searches
        self._cheap = None if cascade is None else cascade.stage
        self._compiled: dict[Plan, SafeGraph] = {}

    def of(self, plan: Plan) -> SafeGraph:
        if plan not in self._compiled:
            self._compiled[plan] = build_safe_graph(
                self._plan_of(plan), max_searches=self._max_searches, cheap=self._cheap
            )
        return self._compiled[plan]


@dataclass(frozen=True)
class Engine:
    """One run's machinery. Lives in one event loop."""

    settings: CheckSettings
    graphs: Graphs
    searching: SearchGateway
    fingerprint: Fingerprint
    cache: CallCache
    chat: ChatModel | None
    prompts: PromptRegistry
    gateway: ModelGateway | None
    """The door to `chat`, under the run's limits."""
    cascade: Cascade | None = None
    gates: bool = True
    """Whether what has nothing to do with the question is left unjudged; never where documents come with the answer."""

    @property
    def graph(self) -> SafeGraph:
        """The state machine of the plan that the fingerprint names."""
        return self.graphs.of(self.fingerprint.plan)

    def over(self, tools: Sequence[SearchTool], *, given_alone: bool = False) -> Engine:
        """The same machinery, limits and budget, with other tools to search.

        `given_alone`: they search what came with the answer, and nothing else is searched.
        """
        plan = plan_of_check(self.settings, tools, has_model=self.chat is not None, given_alone=given_alone)
        changes: dict[str, Any] = {"search_tools": tuple(tool.identity for tool in tools), "plan": plan}
        if self.chat is not None:
            changes["prompts"] = self.prompts.hashes(_prompts_of(plan))
        return replace(
            self,
            searching=self.searching.over(tools),
            fingerprint=self.fingerprint.model_copy(update=changes),
            gates=not given_alone,
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
    given_alone: bool = False,
) -> Setup:
    """The set-up for these settings. Touches no network. Raises ConfigError.

    `given_alone`: the tools search what came with one answer, and nothing else is searched. `model` is a chat model
    that the caller built, and closes; otherwise `settings.model` names one, or the offline
    engine runs.
    """
    chat = _chat_model(settings, model)
    prompts = PromptRegistry.load(settings.prompts)
    cascade = load_cascade(settings, has_model=chat is not None)
    fingerprint = _fingerprint(settings, chat, tools, prompts, given_alone=given_alone)
    if cascade is not None:
        fingerprint = fingerprint.model_copy(update={"cascade": cascade.fingerprint})
    return Setup(settings, tools, prompts, chat, fingerprint, tape, cascade, gates=not given_alone)


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
        patience_s=calls.patience_s,
        rng=calls.rng,
        journal=calls.journal,
        tape=calls.tape,
    )
    gateway: ModelGateway | None = None
    if chat is not None:
        gateway = build_gateway(
            settings, chat, setup.prompts, calls, use_tools=settings.tool_calling, before=searching.reach
        )
    graphs = Graphs(plans(settings, gateway, setup.prompts), settings, setup.cascade)
    return Engine(
        settings=settings,
        graphs=graphs,
        searching=searching,
        fingerprint=setup.fingerprint,
        cache=calls.cache,
        chat=chat,
        prompts=setup.prompts,
        gateway=gateway,
        cascade=setup.cascade,
        gates=setup.gates,
    )


def plan_of_check(settings: CheckSettings, tools: Sequence[SearchTool], *, has_model: bool, given_alone: bool) -> Plan:
    """The plan that the settings name; else `grounded` where a model judges by given documents alone, else `fused`.

    A cascade goes before `fused`: its verifier looks at each claim before the model does.
    """
    if settings.plan is not None:
        return settings.plan
    own_alone = bool(tools) and all(tool.own_documents for tool in tools)
    is_grounded = has_model and settings.cascade is None and (given_alone or own_alone)
    return "grounded" if is_grounded else "fused"


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


def plans(settings: CheckSettings, gateway: ModelGateway | None, prompts: PromptRegistry) -> Callable[[Plan], SafePlan]:
    """How each plan is filled: by the model behind the gateway, else by the offline engine."""
    if gateway is None:
        return _offline_plans(settings)

    def by_model(plan: Plan) -> SafePlan:
        if plan == "paper":
            return PaperPlan(ModelPaperStages(gateway, prompts, logprobs=settings.logprobs))
        stages = ModelGroundedStages(gateway, prompts, logprobs=settings.logprobs)
        return FusedPlan(stages) if plan == "fused" else GroundedPlan(stages, settings.results_per_search)

    return by_model


def _offline_plans(settings: CheckSettings) -> Callable[[Plan], SafePlan]:
    """Offline the plan `grounded` is `fused` without its gate: reading windows would save no call."""
    from factloop.tools.linguistics.pipeline import load_pipeline
    from factloop.tools.verifiers.lexical import LexicalVerifier

    verifier = LexicalVerifier(build_embedder(settings))
    nlp = load_pipeline(settings.spacy_model) if settings.spacy_model is not None else None

    def by_rules(plan: Plan) -> SafePlan:
        if plan == "paper":
            return PaperPlan(OfflinePaperStages(verifier, nlp))
        return FusedPlan(OfflineFusedStages(verifier, nlp), gates=plan != "grounded")

    return by_rules


def _prompts_of(plan: Plan) -> tuple[str, ...]:
    of_plan = {"paper": PAPER_PROMPTS, "fused": FUSED_PROMPTS, "grounded": GROUNDED_PROMPTS}
    return (*of_plan[plan], *GATEWAY_PROMPTS)


def _fingerprint(
    settings: CheckSettings,
    chat: ChatModel | None,
    tools: Sequence[SearchTool],
    prompts: PromptRegistry,
    *,
    given_alone: bool,
) -> Fingerprint:
    plan = plan_of_check(settings, tools, has_model=chat is not None, given_alone=given_alone)
    used = () if chat is None else _prompts_of(plan)
    engine: Literal["model", "offline"] = "offline" if chat is None else "model"
    identity = dict(chat.identity) if chat is not None else {}
    made_with = {name: getattr(settings, name) for name in marked(CheckSettings, "fingerprint")}
    return Fingerprint(
        factloop_version=factloop.__version__,
        engine=engine,
        model=chat.name if chat is not None else None,
        base_url=identity.get("base_url"),
        sampling={key: value for key, value in identity.items() if key not in {"model", "base_url"}},
        plan=plan,
        search_tools=tuple(tool.identity for tool in tools),
        prompts=prompts.hashes(used),
        versions={name: importlib.metadata.version(name) for name in LIBRARIES},
        **{**made_with, "logprobs": settings.logprobs and chat is not None},
    )
