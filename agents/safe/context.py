"""The context that one check brings to the graph, which is compiled once for many: its account and its searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.gateway import SearchGateway


@dataclass(frozen=True)
class CheckContext:
    """The context of one run of the graph (LangGraph's `Runtime.context`)."""

    meter: UsageMeter
    searching: SearchGateway
    gates: bool = True
    """Whether irrelevant claims are left unchecked; otherwise relevance is only a label."""


SafeGraph = CompiledStateGraph[Any, CheckContext, Any, Any]
"""A graph of this agent, compiled."""
