"""Sessions: what each opens, shares with others, and closes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from factloop.core.errors import BudgetExceeded
from factloop.prompts.registry import PromptRegistry
from factloop.setup.session import Session, Store, common_to, open_session
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.chat import ChatModel, wrap_chat_model

PROMPTS = PromptRegistry.load()


def parrot(*said: str) -> ChatModel:
    return wrap_chat_model(FakeListChatModel(responses=list(said)))


async def ask(session: Session, chat: ChatModel, question: str = "Who?", meter: UsageMeter | None = None) -> str:
    answer = await session.model(chat).ask_freely(question, stage="ask", meter=meter or UsageMeter())
    return answer.text


async def test_answers_worth_keeping_are_there_for_the_next_session(tmp_path: Path) -> None:
    settings = CheckSettings(cache_dir=tmp_path)
    for keeps, said in ((False, "one"), (True, "two"), (True, "two"), (False, "four")):
        session = open_session(settings, PROMPTS, keeps=keeps)
        assert await ask(session, parrot(said if said != "two" or keeps else "three")) == said
        await session.aclose()


async def test_a_journal_is_the_only_place_for_answers_and_begins_the_budget(tmp_path: Path) -> None:
    settings, journal = CheckSettings(cache_dir=tmp_path / "cache", max_calls=1), tmp_path / "journal.sqlite"
    for question, meter in (("Who?", UsageMeter()), ("Who?", UsageMeter())):
        session = open_session(settings, PROMPTS, keeps=True, journal=journal)
        assert await ask(session, parrot("one"), question, meter) == "one"
        assert meter.snapshot(0.0).calls == 1  # an earlier attempt's call counts as one of this run
        await session.aclose()
    assert not (tmp_path / "cache").exists()
    session = open_session(settings, PROMPTS, keeps=True, journal=journal)
    with pytest.raises(BudgetExceeded):
        await ask(session, parrot("one"), "And who else?")
    await session.aclose()


async def test_sessions_with_one_store_share_answers_budget_and_pace(tmp_path: Path) -> None:
    common, cache = common_to(CheckSettings(max_calls=1)), CallCache(tmp_path / "answers.sqlite")
    answers = RunAnswers(cache)
    store = Store(answers, answers, common)
    one, other = (open_session(CheckSettings(cache_dir=tmp_path / "x"), PROMPTS, keeps=True, store=store) for _ in "12")
    assert set(await asyncio.gather(ask(one, parrot("one")), ask(other, parrot("two")))) == {"one"}
    with pytest.raises(BudgetExceeded):
        await ask(other, parrot("three"), "And who else?")
    assert len(common.patience) == 1
    await one.aclose()
    await other.aclose()
    assert cache.paid()[0] == 1  # who brings a store closes it
    cache.close()
    assert not (tmp_path / "x").exists()
