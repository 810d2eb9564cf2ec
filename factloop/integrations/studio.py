"""Graphs for LangGraph's studio and server (`langgraph.json`).

Settings come from the environment (`FACTLOOP_MODEL`, `FACTLOOP_SEARCH`, `FACTLOOP_DOCS`, ...) and `factloop.toml`.
Graphs are built in a thread, because the server rejects blocking calls in its event loop.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from factloop.agents.safe.stages import SafeGraph
from factloop.agents.safe.state import TextInput, TextOutput, TextState
from factloop.checking.check import Checking, CheckRequest, open_checking
from factloop.checking.checker import FactChecker
from factloop.checking.preparing import prepare
from factloop.core.records import GivenFacts, Plan
from factloop.entrance.settings_sources import load_settings
from factloop.setup.settings import CheckSettings
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import TrustSettings


async def build_fused() -> CompiledStateGraph[Any]:
    """Builds the graph of the `fused` plan. Input: `{prompt, response}`. Output: `{claims, sentences_read}`."""
    return await asyncio.to_thread(_build, "fused")


async def build_grounded() -> CompiledStateGraph[Any]:
    """Builds the graph of the `grounded` plan. Input: `{prompt, response}`. Output: `{claims, sentences_read}`."""
    return await asyncio.to_thread(_build, "grounded")


async def build_paper() -> CompiledStateGraph[Any]:
    """Builds the graph of the `paper` plan. Input: `{prompt, response}`. Output: `{claims, sentences_read}`."""
    return await asyncio.to_thread(_build, "paper")


async def build_trustscore() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Builds the graph of TrustScore. Input: `{question, response}`. Output: the three scores."""
    return await asyncio.to_thread(_build_trustscore)


def _build_trustscore() -> CompiledStateGraph[Any, Any, Any, Any]:
    from factloop.trust.preparing import prepare_trust
    from factloop.trust.scoring import open_trust_scoring

    settings = load_settings(TrustSettings, {}, os.environ, Path.cwd())
    return open_trust_scoring(prepare_trust(settings, TrustScorer(settings=settings).corpus)).graph


def _build(plan: Plan) -> CompiledStateGraph[Any]:
    settings = load_settings(CheckSettings, {"plan": plan}, os.environ, Path.cwd())
    tools = FactChecker(settings=settings).tools

    def opened() -> tuple[Checking, SafeGraph]:
        checking = open_checking(prepare(settings, tools))
        return checking, checking.graph_of(plan)

    async def check(state: TextState) -> Any:
        checking, safe = await asyncio.to_thread(opened)
        try:
            given = state.get("facts")
            facts = None if given is None else [GivenFacts.model_validate(one) for one in given]
            asked = CheckRequest(state["response"], state.get("prompt"), facts, state.get("spans"))
            found = await safe.ainvoke(asked.state, context=checking.context_of(asked))
            return {name: [record.model_dump(mode="json") for record in records] for name, records in found.items()}
        finally:
            await checking.aclose()

    graph = StateGraph(TextState, input_schema=TextInput, output_schema=TextOutput)
    graph.add_node("check", check)
    graph.add_edge(START, "check")
    graph.add_edge("check", END)
    return graph.compile(name=plan)
