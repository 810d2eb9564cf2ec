"""`Session` contains everything that a judge needs. It is opened from the settings and closed as a unit.

session = open_session(settings, prompts, [chat], keeps=chat.persistent)
try:
    gateway = session.model(chat)
    ...
finally:
    await session.aclose()
"""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from factloop.core.errors import ConfigError
from factloop.prompts.registry import PromptRegistry
from factloop.setup.caching.opening import open_answers
from factloop.setup.chat_model import reply_timeout_s
from factloop.setup.pace import Pace, address_of, new_limiter
from factloop.setup.settings import RunSettings
from factloop.tools.calls.answers import Answers, RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import AnswersKept, CallCache, MemoryAnswers
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.patience import Patience
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.tape import Tape
from factloop.tools.models.abilities import Abilities
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.transport import Transport
from factloop.tools.search.base import SearchTool
from factloop.tools.search.gateway import SearchGateway, Server, limiter_of_tool

if TYPE_CHECKING:
    from factloop.tools.models.batches import Batches

REPAIR, JSON_REPLY = "gateway/repair", "gateway/json_reply"
GATEWAY_PROMPTS = (REPAIR, JSON_REPLY)
log = logging.getLogger(__name__)

BATCHES = "batches.jsonl"  # name of the file for batches in a run directory
UNFETCHED = "Answers that were not fetched are billed, but no report includes them; use --batch to fetch them"
NEEDS_FOLDER = "also set a run directory (--run-dir), which records submitted batches, because a batch may take a day"


@dataclass(frozen=True)
class Common:
    """What several sessions in one event loop share."""

    budget: Budget
    limiter: Limiter
    """Limits all model calls together, because these sessions usually use the same server."""
    patience: dict[str, Patience] = field(default_factory=dict)
    """Keyed by the URL of the model server."""
    servers: dict[int, Server] = field(default_factory=dict)
    """Keyed by the id of the search tool."""
    abilities: dict[tuple[str, str], Abilities] = field(default_factory=dict)
    """What each model supports, by its server's URL and its name."""
    batches: Batches | None = None

    def patience_with(self, chat: ChatModel, settings: RunSettings, patience_s: float) -> Patience:
        return self.patience.setdefault(address_of(chat), _patience(chat, settings, patience_s))

    def abilities_of(self, chat: ChatModel) -> Abilities:
        return self.abilities.setdefault((address_of(chat), chat.name), Abilities())


@dataclass(frozen=True)
class Store:
    """Answer stores that a session uses instead of its own, and does not close."""

    models: Answers
    searches: Answers
    common: Common
    scope: str = ""
    """Distinguishes identical requests from different stores."""


@dataclass(frozen=True)
class Session:
    """The models, searches, calls and prompts of a run. Bound to one event loop."""

    settings: RunSettings
    prompts: PromptRegistry
    chats: Sequence[ChatModel]
    """The models that are closed along with the session."""
    of_models: Answers
    of_searches: Answers
    budget: Budget
    rng: random.Random
    common: Common | None = None
    pace: Pace | None = None
    """The rate limits shared with other sessions, or None if the session has its own."""
    kept: AnswersKept | None = None
    """The session's own store of answers, or None if it was given a store."""
    batches: Batches | None = None
    """The session's own or shared batches, or None for live calls."""
    scope: str = ""

    def model(self, chat: ChatModel, *, use_tools: bool = True) -> ModelGateway:
        """Raises ConfigError in batch mode without a run directory."""
        settings, common = self.settings, self.common
        timeout_s: float | None = reply_timeout_s(settings, chat.identity.get("base_url"))
        patience_s = settings.patience_s
        if settings.batch and not settings.replays:
            if self.batches is None:
                raise ConfigError(f"batch: {NEEDS_FOLDER}")
            # Batches have no timeout, and their own code detects whether the provider can be reached.
            chat, timeout_s, patience_s = self.batches.over(chat, self.scope), None, math.inf
        transport = Transport(
            chat,
            json_reply=self.prompts[JSON_REPLY],
            limiter=self._limiter(chat),
            budget=self.budget,
            retry=retry_policy(settings),
            timeout_s=timeout_s,
            rng=self.rng,
            use_tools=use_tools,
            patience=(
                _patience(chat, settings, patience_s)
                if common is None
                else common.patience_with(chat, settings, patience_s)
            ),
            abilities=None if common is None else common.abilities_of(chat),
        )
        return ModelGateway(chat, transport, repair=self.prompts[REPAIR], answers=self.of_models)

    def _limiter(self, chat: ChatModel) -> Limiter:
        if self.common is not None:
            return self.common.limiter
        return new_limiter(self.settings) if self.pace is None else self.pace.limiter(chat)

    def search(self, tools: Sequence[SearchTool], *, results: int) -> SearchGateway:
        """`results` is the number of results per query."""
        return SearchGateway(
            tools,
            results=results,
            answers=self.of_searches,
            retry=retry_policy(self.settings),
            timeout_s=self.settings.timeout_s,
            rng=self.rng,
            budget=self.budget,
            patience_s=self.settings.patience_s,
            rest_s=self.settings.rest_s,
            servers=None if self.common is None else self.common.servers,
            limiter_of=limiter_of_tool if self.pace is None else self.pace.limiter_of_search,
        )

    async def aclose(self) -> None:
        if self.batches is not None:
            await self.batches.aclose()
        if self.kept is not None:
            self.kept.close()
        for chat in self.chats:
            await chat.aclose()


def open_session(
    settings: RunSettings,
    prompts: PromptRegistry,
    chats: Sequence[ChatModel] = (),
    *,
    keeps: bool,
    seed: int = 0,
    journal: Path | None = None,
    tape: Tape | None = None,
    store: Store | None = None,
    pace: Pace | None = None,
    budget: Budget | None = None,
) -> Session:
    """Opens a run's session, which closes `chats` when it is closed. `seed` determines retry jitter.

    A `pace` or `budget` is shared with other sessions. With a `journal`, `tape` or `store`, answers are saved only
    there. Otherwise, they are cached if `keeps` is set. Raises ConfigError, for example if a recording is set without a
    `tape`, because the run would then make live calls instead of replaying.
    """
    if settings.recording is not None and tape is None:
        raise ConfigError(f"recording = {str(settings.recording)!r}: not supported here; remove the setting")
    if journal is not None and tape is not None:
        raise ConfigError("use a run directory or a recording, not both: each stores all answers of the run")
    rng = random.Random(seed)
    if store is not None:
        of_all, searches = store.common, store.searches
        session = Session(settings, prompts, chats, store.models, searches, of_all.budget, rng, of_all)
        return replace(session, batches=of_all.batches, scope=store.scope)
    budget = budget_of(settings) if budget is None else budget
    kept: AnswersKept
    if journal is not None:
        kept = CallCache(journal)
        budget.note_earlier(*kept.paid())
    else:
        kept = open_answers(settings) if keeps and tape is None else MemoryAnswers()
    answers = RunAnswers(kept, journal=journal is not None, tape=tape, batched=settings.batch)
    batches = None if journal is None else batches_in(settings, journal.parent)
    return Session(settings, prompts, chats, answers, answers, budget, rng, pace=pace, kept=kept, batches=batches)


def common_to(settings: RunSettings, folder: Path | None = None) -> Common:
    """What sessions with these limits share. Batches are stored in `folder`."""
    batches = None if folder is None else batches_in(settings, folder)
    return Common(budget_of(settings), new_limiter(settings), batches=batches)


def batches_in(settings: RunSettings, folder: Path) -> Batches | None:
    """Opens the batches stored in this folder, or returns None if batching is off. Raises ConfigError."""
    path = folder / BATCHES
    if not settings.batch:
        if path.exists():
            log.warning("%s: earlier attempts used --batch. %s", path, UNFETCHED)
        return None
    from factloop.tools.models.batches import Batches  # imported late, because most runs do not need it

    return Batches(path, after_s=settings.batch_after_s, patience_s=settings.patience_s)


def refuse_unbatched(settings: RunSettings, run_dir: object) -> None:
    """Raises ConfigError if batching is on without a run directory or together with a deadline."""
    if settings.batch and run_dir is None:
        raise ConfigError(f"--batch: {NEEDS_FOLDER}")
    if settings.batch and getattr(settings, "deadline_s", None) is not None:
        raise ConfigError("--batch and --deadline cannot be combined, because a batch may take a day")


def budget_of(settings: RunSettings) -> Budget:
    return Budget(max_calls=settings.max_calls, max_usd=settings.budget_usd)


def _patience(chat: ChatModel, settings: RunSettings, patience_s: float) -> Patience:
    return Patience(chat.name, patience_s, settings.rest_s)


def retry_policy(settings: RunSettings) -> RetryPolicy:
    """Returns the default policy. If `patience_s` is longer than the default, servers may ask for longer pauses."""
    usual = RetryPolicy()
    return replace(usual, patience_s=max(usual.patience_s, settings.patience_s))
