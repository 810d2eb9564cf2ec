"""What may be given as the check: a step of a chain or the bare checker, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage

from factloop import Corrector, FactChecker
from factloop.core.errors import ConfigError
from factloop.guarding import StreamGuard
from factloop.integrations.langchain import (
    CorrectionRunnable,
    FactCheckMiddleware,
    FactCheckRunnable,
    FactCheckStreamGuard,
    build_factcheck_node,
    factcheck_tool,
)
from tests.integrations.ada import ADA, ANSWER, ASKED, CALL, PASSAGE, TRUE, offline, verdicts
from tests.integrations.scripted import ScriptedModel

RIGHT = ["supported", "not_supported"]
DOORS: dict[str, Callable[..., Any]] = {
    "correction": CorrectionRunnable,
    "middleware": FactCheckMiddleware,
    "guard": FactCheckStreamGuard,
    "node": build_factcheck_node,
    "tool": factcheck_tool,
}


def bare(**settings: Any) -> FactChecker:
    return FactChecker(cache=False, **settings)


@pytest.fixture
def handbook(tmp_path: Path) -> str:
    path = tmp_path / "handbook.md"
    path.write_text(PASSAGE, encoding="utf-8")
    return str(path)


def test_a_bare_checker_will_do_everywhere() -> None:
    assert verdicts(CorrectionRunnable(bare()).invoke(ASKED).before) == RIGHT
    assert verdicts(factcheck_tool(bare(), documents=[ADA]).invoke(CALL).artifact) == RIGHT
    assert verdicts(build_factcheck_node(bare()).invoke(ASKED)["report"]) == RIGHT
    assert FactCheckStreamGuard(bare(), "drop", documents=[ADA]).invoke(ANSWER) == TRUE
    guard = FactCheckMiddleware(bare(), action="block", documents=[ADA], message="No.")
    agent: Any = create_agent(ScriptedModel(script=[AIMessage(ANSWER)]), [], middleware=[guard])
    assert agent.invoke({"messages": [HumanMessage("Who?")]})["messages"][-1].text == "No."


def test_a_bare_checker_searches_documents_of_its_own(handbook: str) -> None:
    checker = bare(docs=handbook)
    assert verdicts(factcheck_tool(checker).invoke(CALL).artifact) == RIGHT
    assert FactCheckStreamGuard(checker, "drop").invoke(ANSWER) == TRUE
    with pytest.raises(ConfigError, match="mode='factuality' searches what the checker has"):
        FactCheckStreamGuard(FactCheckRunnable(checker)).invoke(ANSWER)


@pytest.mark.parametrize("wrong", ["openai:gpt-4o-mini", Corrector(bare()), StreamGuard(bare()), FactChecker])
@pytest.mark.parametrize("door", DOORS)
def test_anything_else_is_refused_before_it_is_used(door: str, wrong: Any) -> None:
    kind = type(wrong).__name__
    with pytest.raises(ConfigError, match=f"check: a FactCheckRunnable or a FactChecker is needed, not {kind}"):
        DOORS[door](wrong)


@pytest.mark.parametrize("kind", [FactCheckRunnable, StreamGuard, Corrector])
def test_what_takes_a_bare_checker_refuses_a_step_of_a_chain(kind: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match="checker: must be a FactChecker, not FactCheckRunnable"):
        kind(offline())
