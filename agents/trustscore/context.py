"""The context that an answer brings to the graphs, which are compiled once for many: its account, and its search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.gateway import SearchGateway


@dataclass(frozen=True)
class TrustContext:
    """The context of one answer, beside its state: the account that its calls are charged to, and what is searched."""

    meter: UsageMeter
    searching: SearchGateway | None = None
    """Searched by TrustFC in the place of the graph's own search."""


Graph = CompiledStateGraph[Any, TrustContext, Any, Any]


def meter_of(runtime: Runtime[TrustContext]) -> UsageMeter:
    """The account of the answer; a throwaway one if the graph runs without a context, as in LangGraph's studio."""
    return runtime.context.meter if runtime.context else UsageMeter()


def searching_of(runtime: Runtime[TrustContext], own: SearchGateway) -> SearchGateway:
    """What the answer came with; else, or without a context, the graph's own search."""
    given = runtime.context.searching if runtime.context else None
    return own if given is None else given
