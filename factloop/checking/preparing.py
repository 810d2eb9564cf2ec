"""Determines the judge, sources, plan and prompts for a check before anything is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

import factloop
from factloop.agents.safe.model_stages import FUSED_PROMPTS, GROUNDED_PROMPTS, PAPER_PROMPTS
from factloop.agents.safe.published import PUBLISHED_PROMPTS, VERIFIABLE_PROMPTS
from factloop.checking.cascade.stage import Cascade, load_cascade
from factloop.checking.judging import NamedJudge, named_judge, refuse_clash
from factloop.core.errors import ConfigError
from factloop.core.extras import installed_version, require
from factloop.core.records import Fingerprint, Plan
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model, stated_price
from factloop.setup.marks import marked
from factloop.setup.session import GATEWAY_PROMPTS
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.tools.calls.tape import Tape
from factloop.tools.judges.served import ELIGIBILITY
from factloop.tools.models.chat import ChatModel
from factloop.tools.search.base import SearchTool
from factloop.tools.text.pipeline import pipeline_name

LIBRARIES = ("langchain-core", "langchain-openai", "langgraph", "openai", "tantivy")
OFFLINE_LIBRARIES = ("spacy",)  # additional libraries for checks without a chat model


@dataclass(frozen=True)
class Setup:
    """What a run will use, before anything is opened."""

    settings: CheckSettings
    tools: Sequence[SearchTool]
    prompts: PromptRegistry
    chat: ChatModel | None
    fingerprint: Fingerprint
    tape: Tape | None = None
    cascade: Cascade | None = None
    jury: tuple[ChatModel, ...] = ()
    """Additional models that judge the claims found by `chat`."""
    judge: NamedJudge | None = None
    """The judge used instead of a chat model. None for a chat model or the bundled baseline."""
    gates: bool = True
    """Whether claims that are irrelevant to the question are marked `irrelevant` instead of being judged. False if an
    answer is checked only against its own documents."""

    @property
    def chats(self) -> tuple[ChatModel, ...]:
        judged = None if self.judge is None else self.judge.chat
        return tuple(one for one in (self.chat, *self.jury, judged) if one is not None)

    def over(self, sources: Sources) -> Setup:
        """Returns the same setup for an answer with its own sources."""
        tools, given_alone = numbered(sources.searched(self.tools)), sources.mode == "faithfulness"
        plan = plan_of_check(self.settings, tools, has_model=self.chat is not None, given_alone=given_alone)
        changes: dict[str, Any] = {"search_tools": tuple(tool.identity for tool in tools), "plan": plan}
        if self.chat is not None:
            used = prompts_of(plan, self.settings)
            changes |= {"prompts": self.prompts.hashes(used), "prompt_lines": self.prompts.first_lines(used)}
        fingerprint = self.fingerprint.model_copy(update=changes)
        return replace(self, tools=tools, fingerprint=fingerprint, gates=not given_alone)


def prepare(
    settings: CheckSettings,
    tools: Sequence[SearchTool],
    *,
    model: BaseChatModel | ChatModel | None = None,
    tape: Tape | None = None,
) -> Setup:
    """Returns the setup for these settings. Uses the network only to download a judge, if that is allowed. `model`
    replaces `settings.model`, and the caller must close it. Raises ConfigError."""
    refuse_clashes(settings, has_model=model is not None or settings.model is not None)
    chat = _chat_model(settings, model)
    if chat is None:
        require("offline", "a check without a model (--model)")
    if settings.repeats == "core":
        require("offline", "counting only core claims (repeats)")
        require("evaluation", "counting only core claims (repeats)", "scipy")
    prompts = PromptRegistry.load(settings.prompts)
    cascade = load_cascade(settings, has_model=chat is not None)
    judge = named_judge(settings, has_model=chat is not None)
    fingerprint = _fingerprint(settings, chat, tools, prompts)
    if cascade is not None:
        fingerprint = fingerprint.model_copy(update={"cascade": cascade.fingerprint})
    if judge is not None:
        fingerprint = fingerprint.model_copy(update={"verifier": judge.fingerprint})
    jury = _jury(settings)
    if chat is not None and jury:
        names = [one.name for one in jury]
        if len({chat.name, *names}) <= len(names):
            raise ConfigError("jury: list each model once, and omit the main model, which is already a juror")
        fingerprint = fingerprint.model_copy(update={"settings": {**fingerprint.settings, "jury": names}})
    return Setup(settings, tools, prompts, chat, fingerprint, tape, cascade, jury, judge)


def refuse_clashes(settings: CheckSettings, *, has_model: bool) -> None:
    """Raises ConfigError for settings that cannot be combined. Builds nothing, and reads at most a cascade file."""
    stated_price(settings)  # an incomplete price is an error even if no model uses it
    if settings.base_url is not None and not has_model and settings.judge is None:
        raise ConfigError("--base-url needs a model: set --model, for example to openai:NAME")
    if settings.eligibility and not has_model:
        raise ConfigError("judging eligibility needs a chat model: set one (`model`, --model)")
    if settings.jury and not has_model:
        raise ConfigError("a jury needs a main model that reads the answer: set one (`model`, --model)")
    refuse_clash(settings, has_model=has_model)
    plan_of_check(settings, (), has_model=has_model, given_alone=False)


def plan_of_check(settings: CheckSettings, tools: Sequence[SearchTool], *, has_model: bool, given_alone: bool) -> Plan:
    """Returns the plan in the settings or, by default, `grounded` if a model judges only by documents, else `fused`.

    With a cascade, the default is `fused`, because the verifier examines each claim before the model does. Raises
    ConfigError for the `safe` plan without a model or with a jury, and for verifiable claims with any other plan.
    """
    if settings.plan == "safe" and (not has_model or settings.jury):
        raise ConfigError("the `safe` plan uses a single chat model, as in the paper: set --model and omit --jury")
    if settings.verifiable and settings.plan != "safe":
        raise ConfigError("verifiable claims require the `safe` plan: set `--plan safe`")
    if settings.plan is not None:
        return settings.plan
    own_alone = bool(tools) and all(tool.own_documents for tool in tools)
    is_grounded = has_model and settings.cascade is None and (given_alone or own_alone)
    return "grounded" if is_grounded else "fused"


def plan_of(settings: CheckSettings) -> Plan:
    """Returns the plan for a check with these settings. Does not open any sources."""
    return plan_of_check(settings, (), has_model=settings.model is not None, given_alone=not settings.search)


def _chat_model(settings: CheckSettings, model: BaseChatModel | ChatModel | None) -> ChatModel | None:
    if isinstance(model, ChatModel):
        return replace(model, http=None)  # the caller closes the connections
    wanted = model if model is not None else settings.model
    if wanted is None:
        return None
    return build_model(settings, wanted, base_url=settings.base_url, temperature=settings.temperature)


def _jury(settings: CheckSettings) -> tuple[ChatModel, ...]:
    own = settings.model_copy(update={"price_in": None, "price_out": None, "price_cached": None})
    build = partial(build_model, own, base_url=settings.base_url, temperature=settings.temperature)
    return tuple(build(name) for name in settings.jury)


PLAN_PROMPTS: Mapping[Plan, tuple[str, ...]] = {
    "paper": PAPER_PROMPTS,
    "fused": FUSED_PROMPTS,
    "grounded": GROUNDED_PROMPTS,
    "safe": PUBLISHED_PROMPTS,
}


def plan_of_prompt(name: str) -> Plan | None:
    """Returns the plan that uses a prompt, if any. Prefers `fused` to `grounded`, which reuses `fused` prompts."""
    of_safe: Plan | None = "safe" if name in VERIFIABLE_PROMPTS else None
    return next((plan for plan, names in PLAN_PROMPTS.items() if name in names), of_safe)


def prompts_of(plan: Plan, settings: CheckSettings) -> tuple[str, ...]:
    of_plan = VERIFIABLE_PROMPTS if settings.verifiable else PLAN_PROMPTS[plan]
    return (*of_plan, *((ELIGIBILITY,) if settings.eligibility else ()), *GATEWAY_PROMPTS)


def unsent_prompts(settings: CheckSettings) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields a warning for each of the user's prompts that belongs to another plan, and the settings that it needs."""
    plan = plan_of(settings)
    sent = prompts_of(plan, settings)
    for name in sorted(PromptRegistry.load(settings.prompts).own):
        other = plan_of_prompt(name)
        falls_back = (plan, other) == ("grounded", "fused")
        if other is not None and (falls_back or name not in sent):
            when = "sends this prompt only if other replies are unusable" if falls_back else "sends other prompts"
            kinds = [" with verifiable=yes" * one for one in (name not in PLAN_PROMPTS[other], settings.verifiable)]
            needed = {} if kinds[0] == kinds[1] else {"verifiable": "yes" if kinds[0] else "no"}
            said = f"{name} belongs to the {other} plan{kinds[0]}; this check follows {plan}{kinds[1]}, which {when}"
            yield said, {"plan": other, **needed}


def _fingerprint(
    settings: CheckSettings, chat: ChatModel | None, tools: Sequence[SearchTool], prompts: PromptRegistry
) -> Fingerprint:
    plan = plan_of_check(settings, tools, has_model=chat is not None, given_alone=False)
    used = () if chat is None else prompts_of(plan, settings)
    engine: Literal["model", "offline"] = "offline" if chat is None else "model"
    libraries = (*LIBRARIES, *(OFFLINE_LIBRARIES if chat is None else ()))
    identity = dict(chat.identity) if chat is not None else {}
    shaping = marked(type(settings), "fingerprint")
    made_with = {name: getattr(settings, name) for name in shaping if name in Fingerprint.model_fields}
    pipeline = None if chat is not None else pipeline_name(settings.spacy_model)
    return Fingerprint(
        factloop_version=factloop.__version__,
        engine=engine,
        model=chat.name if chat is not None else None,
        base_url=identity.get("base_url"),
        sampling={key: value for key, value in identity.items() if key not in {"model", "base_url"}},
        plan=plan,
        search_tools=tuple(tool.identity for tool in tools),
        prompts=prompts.hashes(used),
        prompt_lines=prompts.first_lines(used),
        versions={name: installed_version(name) for name in sorted(libraries)},
        settings=settings.model_dump(mode="json", include=set(shaping) - set(made_with), exclude_defaults=True),
        **{**made_with, "logprobs": settings.logprobs and chat is not None, "spacy_model": pipeline},
    )


def numbered(tools: Sequence[SearchTool]) -> tuple[SearchTool, ...]:
    """Gives each tool a unique name. A second `retriever` becomes `retriever_2`, and so on."""
    names: set[str] = set()
    found: list[SearchTool] = []
    for tool in tools:
        own = chain([tool.name], (f"{tool.name}_{number}" for number in count(2)))
        name = next(name for name in own if name not in names)
        names.add(name)
        found.append(tool if name == tool.name else tool.model_copy(update={"name": name}))
    return tuple(found)
