"""A graph is compiled once for an engine, however many checks go through it."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from langchain_core.documents import Document
from langgraph.graph import StateGraph

from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments
from tests.checking.simulated import simulated_checker
from tests.simulator import Simulator

GRAPHS_OF_ONE_PLAN = {"safe": 1, "first_round": 1, "claim": 1}
TEXT = "Ada Lovelace was born in London."


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often LangGraph compiled a graph of each name."""
    counts: Counter[str] = Counter()
    original: Any = StateGraph.compile

    def counted(graph: StateGraph[Any, Any, Any, Any], *arguments: Any, **named: Any) -> Any:
        counts[named["name"]] += 1
        return original(graph, *arguments, **named)

    monkeypatch.setattr(StateGraph, "compile", counted)
    return counts


def given(text: str) -> Sources:
    return Sources((GivenDocuments([Document(text)]),))


async def test_checks_one_after_another_and_at_once_go_through_one_graph(
    sim: Simulator, compiled: Counter[str]
) -> None:
    async with simulated_checker(sim) as checker:
        for response in sim.world.responses[:2]:
            await checker.acheck(response.sentences[0], response.prompt)
        await asyncio.gather(*(checker.acheck(one.sentences[0]) for one in sim.world.responses[:3]))
    assert compiled == GRAPHS_OF_ONE_PLAN


async def test_each_plan_has_a_graph_which_is_kept(sim: Simulator, compiled: Counter[str]) -> None:
    """Documents that come with an answer are judged by the grounded plan, what is searched by the fused one."""
    async with simulated_checker(sim) as checker:
        for _ in range(2):
            grounded = await checker.acheck(TEXT, sources=given(TEXT))
            fused = await checker.acheck(TEXT)
    assert (grounded.fingerprint.plan, fused.fingerprint.plan) == ("grounded", "fused")
    assert compiled == {"safe": 2, "first_round": 1, "claim": 2}
