"""The graphs for LangGraph's own studio and server (`langgraph.json`).

Settings come from the environment (`FACTLOOP_MODEL`, `FACTLOOP_SEARCH`, `FACTLOOP_DOCS`, ...) and `factloop.toml`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from langgraph.graph.state import CompiledStateGraph

from factloop.checker import FactChecker
from factloop.checking import safe_graph
from factloop.engine import build_engine, prepare
from factloop.scorer import TrustScorer
from factloop.settings import CheckSettings
from factloop.settings_sources import load_settings
from factloop.tools.calls.meter import UsageMeter
from factloop.trust_engine import build_trust_engine, prepare_trust
from factloop.trust_settings import TrustSettings


def build_fused() -> CompiledStateGraph[Any]:
    """The graph of the fused plan. Input `{prompt, response}`, output `{claims}`."""
    return _build("fused")


def build_paper() -> CompiledStateGraph[Any]:
    """The graph of the paper's plan. Input `{prompt, response}`, output `{claims}`."""
    return _build("paper")


def build_trustscore() -> CompiledStateGraph[Any, Any, Any, Any]:
    """The graph of TrustScore. Input `{question, response}`, output the three scores."""
    settings = load_settings(TrustSettings, {}, os.environ, Path.cwd())
    return build_trust_engine(prepare_trust(settings, TrustScorer(settings=settings).corpus)).graph


def _build(plan: Literal["fused", "paper"]) -> CompiledStateGraph[Any]:
    settings = load_settings(CheckSettings, {"plan": plan}, os.environ, Path.cwd())
    tools = FactChecker(settings=settings).tools
    graph: CompiledStateGraph[Any] = safe_graph(build_engine(prepare(settings, tools)), UsageMeter(), settings)
    return graph
