"""A judge that is away: what guards do, what the log says, and what spans say."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage

from factloop import ConfigError, FactChecker
from factloop.integrations.langchain import (
    CorrectionRunnable,
    FactCheckMiddleware,
    FactCheckRunnable,
    FactCheckStreamGuard,
)
from factloop.integrations.langchain.middleware import BLOCKED
from tests.integrations.ada import ADA, ANSWER, ASKED, QUESTION
from tests.integrations.scripted import ScriptedModel
from tests.simulator import MODEL, Simulator

NOBODY = "http://127.0.0.1:9/v1"
ASKS: Any = {"messages": [HumanMessage(QUESTION)]}


def away(**settings: Any) -> FactChecker:
    """Its judge has never answered: the process is new."""
    return FactChecker(**{"model": MODEL, "base_url": NOBODY, "cache": False, **settings})


def guarded(checker: FactChecker, **options: Any) -> Any:
    guard = FactCheckMiddleware(FactCheckRunnable(checker), documents=[ADA], **options)
    return create_agent(ScriptedModel(script=[AIMessage(ANSWER)]), [], middleware=[guard])


OUTCOMES: dict[str, Callable[[], Any]] = {
    "block": lambda: guarded(away(), action="block").invoke(ASKS)["messages"][-1].text == BLOCKED,
    "passing": lambda: (
        guarded(away(), action="block", passing=["unscored"]).invoke(ASKS)["messages"][-1].text == ANSWER
    ),
    "stream": lambda: FactCheckStreamGuard(away(), documents=[ADA]).invoke(ANSWER).count("[not checked]") == 2,
    "events": lambda: list(FactCheckRunnable(away()).stream(ASKED))[-1].counts.unscored == 2,
    "correction": lambda: CorrectionRunnable(away()).invoke(ASKED).text.count("[unchecked]") == 2,
}


@pytest.mark.parametrize("step", OUTCOMES)
def test_a_judge_that_is_away_from_the_start_raises_nothing(step: str) -> None:
    assert OUTCOMES[step]()


def test_a_judge_that_refuses_the_key_is_still_a_wrong_set_up(sim: Simulator) -> None:
    with pytest.raises(ConfigError, match="check the key"):
        guarded(away(base_url=f"{sim.base_url}/elsewhere"), action="block").invoke(ASKS)


async def test_the_log_has_one_warning_for_each_check_that_could_not_be_judged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "factloop"):
        await FactCheckRunnable(away()).ainvoke(ASKED)
        await FactCheckRunnable(FactChecker(cache=False)).ainvoke(ASKED)
        await FactCheckRunnable(FactChecker(cache=False)).ainvoke({**ASKED, "documents": []})
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.name.partition(".")[0] == "factloop"
    assert "none of 2 claims could be judged: openai:sim: " in record.getMessage()
