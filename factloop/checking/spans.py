"""The span of a whole check, for OpenTelemetry."""

from __future__ import annotations

from factloop.core.records import FactualityReport, Fingerprint
from factloop.setup.settings import CheckSettings
from factloop.setup.usage_values import usage_values
from factloop.tools.calls.tracing import Span, Value, as_messages, graph_span
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.traced import request_values


def check_span(
    settings: CheckSettings, fingerprint: Fingerprint, chat: ChatModel | None, prompt: str | None, response: str
) -> Span:
    """The span of one response. Raises ConfigError where traces are asked for and OpenTelemetry is not installed."""
    span = graph_span(
        settings.tracing,
        "factloop.safe",
        {
            **({} if chat is None else request_values(chat)),
            "factloop.version": fingerprint.factloop_version,
            "factloop.engine": fingerprint.engine,
            "factloop.plan": fingerprint.plan,
        },
    )
    span.say("factloop.response", lambda: response)
    if prompt is not None:
        span.say("gen_ai.input.messages", lambda: as_messages([("user", prompt)]))
    return span


def note_check(span: Span, report: FactualityReport) -> None:
    """Notes the outcome of a check, in numbers."""
    counts = report.counts
    found: dict[str, Value] = {f"factloop.claims.{name}": getattr(counts, name) for name in type(counts).model_fields}
    span.set({**found, **usage_values(report.usage)})
