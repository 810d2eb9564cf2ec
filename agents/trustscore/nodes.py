"""The shapes of a graph's nodes, as LangGraph tells them apart: by the names of their parameters."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol, TypeVar

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from factloop.agents.trustscore.stages import TrustContext
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.gateway import SearchGateway

Update = Mapping[str, Any]
Graph = CompiledStateGraph[Any, TrustContext, Any, Any]

S = TypeVar("S", contravariant=True)


class AsyncNode(Protocol[S]):
    """A step that needs nothing but the state. Pure ones are asynchronous, too: else each would run in a thread."""

    def __call__(self, state: S) -> Awaitable[Update]: ...


class CallingNode(Protocol[S]):
    """A step whose calls are charged to the answer's account."""

    def __call__(self, state: S, *, runtime: Runtime[TrustContext]) -> Awaitable[Update]: ...


def meter_of(runtime: Runtime[TrustContext]) -> UsageMeter:
    """The account of the answer; a throwaway one if the graph runs without a context, as in LangGraph's studio."""
    return runtime.context.meter if runtime.context else UsageMeter()


def searching_of(runtime: Runtime[TrustContext], own: SearchGateway) -> SearchGateway:
    """What the answer came with; else, or without a context, the graph's own search."""
    given = runtime.context.searching if runtime.context else None
    return own if given is None else given
