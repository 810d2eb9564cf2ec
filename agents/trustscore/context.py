"""The context that one answer brings to the graphs, which are compiled once for many: its account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from factloop.tools.calls.meter import UsageMeter


@dataclass(frozen=True)
class TrustContext:
    """The context of one answer, beside its state: the account that its calls are charged to."""

    meter: UsageMeter


Graph = CompiledStateGraph[Any, TrustContext, Any, Any]


def meter_of(runtime: Runtime[TrustContext]) -> UsageMeter:
    """The account of the answer; a throwaway one if the graph runs without a context, as in LangGraph's studio."""
    return runtime.context.meter if runtime.context else UsageMeter()
