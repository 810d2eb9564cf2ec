"""Defines the node types used by all graphs. LangGraph tells them apart by their parameter names."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, Protocol

from langgraph.runtime import Runtime
from langgraph.types import Send
from langgraph.typing import ContextT, StateT_contra

Update = Mapping[str, Any]


class PureNode(Protocol[StateT_contra]):
    """A step that needs only the state. It is asynchronous because LangGraph runs synchronous nodes in a thread."""

    def __call__(self, state: StateT_contra) -> Coroutine[Any, Any, Update]: ...


class Node(Protocol[StateT_contra, ContextT]):
    """A step that makes calls through the context or writes events through the runtime."""

    def __call__(self, state: StateT_contra, runtime: Runtime[ContextT]) -> Coroutine[Any, Any, Update]: ...


class Route(Protocol[StateT_contra]):
    """Chooses the next node. It is asynchronous because starting a thread would take longer than most steps."""

    def __call__(self, state: StateT_contra) -> Coroutine[Any, Any, str | list[Send]]: ...
