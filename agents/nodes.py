"""The shapes of nodes in all graphs. LangGraph tells them apart by the names of their parameters."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, Protocol

from langgraph.runtime import Runtime
from langgraph.types import Send
from langgraph.typing import ContextT, StateT_contra

Update = Mapping[str, Any]
"""What a node changes of its graph's state."""


class PureNode(Protocol[StateT_contra]):
    """A step that needs nothing but the state. It is asynchronous, too: else it would run in a thread."""

    def __call__(self, state: StateT_contra) -> Coroutine[Any, Any, Update]: ...


class Node(Protocol[StateT_contra, ContextT]):
    """A step that calls what the context holds, or tells the runtime's writer of events."""

    def __call__(self, state: StateT_contra, runtime: Runtime[ContextT]) -> Coroutine[Any, Any, Update]: ...


class ThreadNode(Protocol[StateT_contra, ContextT]):
    """A step that is not asynchronous, as it takes the processor a while: the graph runs it in a thread."""

    def __call__(self, state: StateT_contra, runtime: Runtime[ContextT]) -> Update: ...


class Route(Protocol[StateT_contra]):
    """Says where a graph goes on. It is asynchronous, too: in a thread it would take longer than most steps do."""

    def __call__(self, state: StateT_contra) -> Coroutine[Any, Any, str | list[Send]]: ...
