"""Checkers of several variants that share answers, limits and search tools, and are each accounted for as if alone.

Model calls are shared between the variants within one repeat, as each repeat is another draw from the model; searches
are shared over all repeats. Only what is asked in the very same words, with the same settings, is shared.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter

from factloop.checking.checker import FactChecker
from factloop.checking.engine import Engine, Graphs, Setup, build_engine, plans
from factloop.core.records import Fingerprint
from factloop.evaluation.experiments.answers import Answers
from factloop.setup.calls import JSON_REPLY, REPAIR, retry_policy
from factloop.setup.engine_pool import EnginePool
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache, Kept
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.meter import CallCost, UsageMeter
from factloop.tools.calls.patience import Patience
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.gateway import ModelGateway, plain_reply, read_reply, request_key
from factloop.tools.models.transport import Request, Transport
from factloop.tools.models.wire import Mode, Reply
from factloop.tools.search.base import SearchTool
from factloop.tools.search.gateway import Found, SearchGateway, Server

_FOUND: TypeAdapter[Found] = TypeAdapter(Found)


@dataclass(frozen=True)
class Shared:
    """What all variants of an experiment have in common. Lives in one event loop."""

    searches: Answers
    budget: Budget
    limiter: Limiter
    """Of model calls; one pace for all, as the variants mostly ask one server."""
    model_patience: dict[str, Patience] = field(default_factory=dict)
    """By the address of the model's server."""
    search_servers: dict[int, Server] = field(default_factory=dict)

    def patience_with(self, chat: ChatModel, settings: CheckSettings) -> Patience:
        address = chat.identity.get("base_url") or chat.name
        return self.model_patience.setdefault(address, Patience(chat.name, settings.patience_s))


Tools = dict[str, tuple[SearchTool, ...]]
"""By the settings that they were built with: variants that search alike read the documents once."""


class VariantChecker(FactChecker):
    """A checker with the settings of one variant."""

    def __init__(self, settings: CheckSettings, tools: Tools) -> None:
        """Takes search tools from `tools`, and adds those that it builds. Raises ConfigError as `FactChecker`."""
        super().__init__(settings=settings.model_copy(update={"cache": False}))  # of answers
        self._caching, self._tools = settings, tools
        self._drawn: tuple[Shared, Answers] | None = None

    def drawing(self, shared: Shared, answers: Answers) -> VariantChecker:
        """The checker of one repeat, with the model's answers in that. Reads the documents on first use."""
        assert self._built is not None  # built once for all repeats
        other = copy(self)
        other._drawn = shared, answers
        other._engines = EnginePool()
        return other

    @cached_property
    def _built(self) -> tuple[SearchTool, ...]:
        named = {"search", "docs", "timeout_s", "embeddings", "cache_dir"}
        key = self.settings.model_dump_json(include=named)
        if key not in self._tools:
            self._tools[key] = super()._built
        return self._tools[key]

    @property
    def can_search(self) -> bool:
        """Whether it searches anything of its own. Reads the documents on first use."""
        return bool(self._built)

    async def describe(self) -> tuple[Fingerprint, Mapping[str, str]]:
        """What its checks are made of, and the texts of the prompts in that, whether or not it searches anything.

        Raises ConfigError.
        """
        setup = self._setup(self._built)
        if setup.chat is not None:
            await setup.chat.aclose()
        used = (setup.prompts[name] for name in setup.fingerprint.prompts)
        return setup.fingerprint, {one.name: f"# system\n{one.system}\n# user\n{one.user}\n" for one in used}

    async def open(self) -> None:
        """Builds what the checks need: what is wrong with it is said before any is begun. Raises ConfigError."""
        await self._engines.here(self._build_engine)

    def _build_engine(self) -> Engine:
        assert self._drawn is not None  # checks are made in a repeat
        shared, answers = self._drawn
        setup = self._setup(self._built)
        engine = build_engine(setup)
        searching = SharedSearches(setup, shared)
        if setup.chat is None:
            return replace(engine, searching=searching)
        gateway = _gateway(setup, searching, shared, answers)
        graphs = Graphs(plans(setup.settings, gateway, setup.prompts), setup.settings, setup.cascade)
        return replace(engine, searching=searching, gateway=gateway, graphs=graphs)


def _gateway(setup: Setup, searching: SearchGateway, shared: Shared, answers: Answers) -> ModelGateway:
    chat, prompts, settings = setup.chat, setup.prompts, setup.settings
    assert chat is not None
    transport = SharedTransport(
        chat,
        answers=answers,
        json_reply=prompts[JSON_REPLY],
        limiter=shared.limiter,
        budget=shared.budget,
        retry=retry_policy(settings),
        timeout_s=settings.timeout_s,
        patience=shared.patience_with(chat, settings),
        rng=random.Random(settings.seed),
        use_tools=settings.tool_calling,
        before=searching.reach,
    )
    # What two checks ask at the same moment is charged to each.
    return ModelGateway(chat, transport, repair=prompts[REPAIR], cache=_NothingKept(), journal=True, apart=True)


class SharedTransport(Transport):
    """The way of one variant to its model, which sends only what no other variant has sent in the same repeat."""

    def __init__(self, *args: Any, answers: Answers, use_tools: bool, **limits: Any) -> None:
        super().__init__(*args, use_tools=use_tools, **limits)
        self._answers = answers
        self._way = "tools" if use_tools else "no tools"

    async def send(self, request: Request) -> tuple[Reply, CallCost, Mode]:
        """As `Transport.send`; the request is charged what its answer cost, whoever paid."""
        key = f"{request_key(self._chat, request)} {self._way}"

        async def ask(account: UsageMeter) -> Any:
            reply, cost, mode = await super(SharedTransport, self).send(replace(request, meter=account))
            return {"reply": plain_reply(reply), "cost": vars(cost), "mode": mode.value}

        answer = await self._answers.once(key, ask, meter=request.meter)
        request.meter.charge(key, answer.usage, stage=request.stage)
        value = answer.value
        return read_reply(value["reply"]), CallCost(**value["cost"]), Mode(value["mode"])


class SharedSearches(SearchGateway):
    """The searches of one variant, which put only what no other variant and no repeat has asked."""

    def __init__(self, setup: Setup, shared: Shared) -> None:
        settings = setup.settings
        super().__init__(
            setup.tools,
            results=settings.results_per_search,
            cache=_NothingKept(),
            budget=shared.budget,
            retry=retry_policy(settings),
            timeout_s=settings.timeout_s,
            patience_s=settings.patience_s,
            rng=random.Random(settings.seed),
            journal=True,
        )
        self._answers = shared.searches
        self._servers = shared.search_servers

    async def search(self, tool: SearchTool, query: str, *, stage: str, meter: UsageMeter) -> Found:
        """As `SearchGateway.search`; charged what the answer cost, whoever paid."""
        key = self._key(tool, " ".join(query.split()))

        async def ask(account: UsageMeter) -> Any:
            found = await super(SharedSearches, self).search(tool, query, stage=stage, meter=account)
            return _FOUND.dump_python(found, mode="json")

        answer = await self._answers.once(key, ask, meter=meter)
        meter.charge(key, answer.usage, stage=stage)
        return _FOUND.validate_python(answer.value)


class _NothingKept(CallCache):
    """Stands in a gateway whose answers are kept elsewhere."""

    def __init__(self) -> None:
        super().__init__(None)

    def get(self, key: str, *, newer_than_s: float | None = None) -> Kept | None:  # noqa: ARG002 - as CallCache has it
        return None

    def put(self, key: str, value: Any, *, calls: int = 0, usd: float = 0.0) -> None:
        """Keeps nothing."""
