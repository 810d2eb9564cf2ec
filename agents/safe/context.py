"""The context that one check brings to the graph, which is compiled once for many: its text, account and searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from factloop.agents.safe.ahead import SearchesAhead
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.gateway import SearchGateway


@dataclass(frozen=True)
class CheckContext:
    """The context of one run of the graph (LangGraph's `Runtime.context`), which ends within its `ahead`."""

    prompt: str | None
    response: str
    """The whole answer. It stands here once, and in no state, of which checkpoints keep a copy for each claim."""
    meter: UsageMeter
    searching: SearchGateway
    gates: bool = True
    """Whether irrelevant claims are left unchecked; otherwise relevance is only a label."""
    ahead: SearchesAhead = field(default_factory=SearchesAhead)


EVENT = "factloop"
"""The key of an event in LangGraph's custom stream, which a search tool of the user's may write to as well."""


def tell(runtime: Runtime[CheckContext], event: Mapping[str, Any]) -> None:
    """Tells those who follow the check what happened."""
    runtime.stream_writer({EVENT: event})


def told_in(chunk: object) -> dict[str, Any] | None:
    """The event in a chunk of the custom stream; None if the chunk is of another's making."""
    return chunk[EVENT] if isinstance(chunk, dict) and chunk.keys() == {EVENT} else None


SafeGraph = CompiledStateGraph[Any, CheckContext, Any, Any]
"""A graph of this agent, compiled."""
