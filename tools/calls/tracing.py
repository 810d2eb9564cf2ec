"""Creates OpenTelemetry spans for graphs, stages, model calls and searches, if tracing is enabled.

Names and attributes follow the semantic conventions for generative AI. Other attributes begin with `factloop.`. Spans
contain prompts, replies, claims and queries only in `content` mode.

Only OpenTelemetry's API is used. It is imported when the first graph is traced. Parent spans are stored in context
variables, which LangGraph's tasks inherit.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from factloop.core.errors import FactloopError, ToolError
from factloop.core.extras import require
from factloop.tools.calls.modes import TracingMode

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

Value = str | bool | int | float | tuple[str, ...] | None


class Span:
    """A span that records nothing."""

    def set(self, values: Mapping[str, Value]) -> None:
        """Adds the attributes that are not None."""

    def say(self, name: str, said: Callable[[], str]) -> None:
        """Adds an attribute with the text that `said` returns, but only in `content` mode."""

    def failed(self, error: BaseException) -> None:
        """Records an error that does not end the span, such as that of a call that is retried."""

    def went_wrong(self, kind: str, said: str) -> None:
        """Records that the operation completed but was unsuccessful."""

    def __enter__(self) -> Self:
        """Makes this span the parent of spans opened in the block, in this task and in tasks that it starts."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the span. Nothing can be added to it afterwards."""


NOTHING = Span()


class _OpenTelemetrySpan(Span):
    def __init__(self, tracer: Tracer, name: str, values: Mapping[str, Value], *, content: bool, calls: bool) -> None:
        from opentelemetry.trace import SpanKind

        kind = SpanKind.CLIENT if calls else SpanKind.INTERNAL
        given: Any = {key: value for key, value in values.items() if value is not None}
        self._span = tracer.start_span(name, kind=kind, attributes=given)
        self._tracer, self._content = tracer, content
        self._before: Any = None

    def set(self, values: Mapping[str, Value]) -> None:
        for key, value in values.items():
            if value is not None:
                self._span.set_attribute(key, value)

    def say(self, name: str, said: Callable[[], str]) -> None:
        if self._content:
            self._span.set_attribute(name, said())

    def failed(self, error: BaseException) -> None:
        self._span.add_event("factloop.attempt_failed", self._facts(error))

    def went_wrong(self, kind: str, said: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR, said if self._content else None))

    def child(self, name: str, values: Mapping[str, Value], *, calls: bool) -> Span:
        return _OpenTelemetrySpan(self._tracer, name, values, content=self._content, calls=calls)

    def __enter__(self) -> Self:
        from opentelemetry import context, trace

        self._before = _CURRENT.set(self), context.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from opentelemetry import context
        from opentelemetry.trace import Status, StatusCode

        ours, theirs = self._before
        context.detach(theirs)
        _CURRENT.reset(ours)
        if isinstance(error, asyncio.CancelledError | GeneratorExit):
            self._span.set_attribute("factloop.cancelled", True)
        elif error is not None:
            self._span.set_attributes(self._facts(error))
            self._span.set_status(Status(StatusCode.ERROR, str(error) if self._content else None))
        self._span.end()

    def _facts(self, error: BaseException) -> dict[str, Any]:
        status = error.status if isinstance(error, ToolError) else None
        return {
            "error.type": type(error).__name__,
            **({} if status is None else {"http.response.status_code": status}),
            **({"exception.message": str(error)} if self._content and isinstance(error, FactloopError) else {}),
        }


_CURRENT: ContextVar[_OpenTelemetrySpan | None] = ContextVar("factloop_span", default=None)


def graph_span(mode: TracingMode, name: str, values: Mapping[str, Value]) -> Span:
    """Returns the span of a graph run, a child of the application's span. Raises ConfigError without OpenTelemetry."""
    named = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return outer_span(mode, f"invoke_agent {name}", {**named, **values})


def outer_span(mode: TracingMode, name: str, values: Mapping[str, Value]) -> Span:
    """Returns a child of the application's current span. Raises ConfigError without OpenTelemetry."""
    if mode == "off":
        return NOTHING
    require("tracing", "tracing", "opentelemetry.trace")
    from opentelemetry import trace

    return _OpenTelemetrySpan(trace.get_tracer("factloop"), name, values, content=mode == "content", calls=False)


def span(name: str, values: Mapping[str, Value], *, calls: bool = False) -> Span:
    """Returns the span of a step in the traced graph. With `calls`, it is marked as a call to a server."""
    current = _CURRENT.get()
    return NOTHING if current is None else current.child(name, values, calls=calls)


def current_span() -> Span:
    return _CURRENT.get() or NOTHING


def as_messages(messages: list[tuple[str, str]]) -> str:
    return json.dumps([_message(role, text) for role, text in messages])


def as_reply(text: str, finish_reason: str) -> str:
    return json.dumps([{**_message("assistant", text), "finish_reason": finish_reason}])


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}
