"""The judge model as a source of distractors, opened for one response alone (`factloop research distractors`)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

from langchain_core.language_models import BaseChatModel

from factloop.agents.trustscore.distractors.proposed import ModelProposer
from factloop.core.errors import ConfigError
from factloop.core.records import Usage
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model
from factloop.setup.session import open_session
from factloop.tools.calls.meter import UsageMeter
from factloop.trust.settings import TrustSettings

NO_JUDGE = "--distractors model asks the judge model: give --judge-model"


@asynccontextmanager
async def open_proposer(
    settings: TrustSettings, judge: BaseChatModel | None = None
) -> AsyncIterator[tuple[ModelProposer, UsageMeter, Callable[[], Usage]]]:
    """The proposer, the account that its call goes to, and what that account holds so far.

    `judge` is a chat model that the caller built; otherwise the settings name one. Answers are kept as those of any
    run. Raises ConfigError where there is no judge.
    """
    wanted = judge if judge is not None else settings.judge_model
    if wanted is None:
        raise ConfigError(NO_JUDGE)
    started, meter = time.perf_counter(), UsageMeter()
    base_url = settings.judge_base_url or settings.base_url
    chat = build_model(settings, wanted, base_url=base_url, temperature=settings.temperature)
    prompts = PromptRegistry.load(settings.prompts)
    async with aclosing(chat):  # the session may not open
        session = open_session(settings, prompts, [chat], keeps=chat.persistent, seed=settings.seed)
        async with aclosing(session):
            proposer = ModelProposer(session.model(chat), prompts)
            yield proposer, meter, lambda: meter.snapshot(time.perf_counter() - started)
