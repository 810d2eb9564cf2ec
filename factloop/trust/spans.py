"""The span of a whole score, for OpenTelemetry."""

from __future__ import annotations

from factloop.agents.trustscore.records import TrustReport
from factloop.setup.trace_export import usage_values
from factloop.tools.calls.tracing import Span, Value, as_messages, graph_span
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.traced import request_values
from factloop.trust.settings import TrustSettings


def score_span(settings: TrustSettings, subject: ChatModel | None, question: str, response: str | None) -> Span:
    """The span of one answer. Raises ConfigError where traces are asked for and OpenTelemetry is not installed."""
    span = graph_span(settings.tracing, "factloop.trustscore", {} if subject is None else request_values(subject))
    span.say("gen_ai.input.messages", lambda: as_messages([("user", question)]))
    if response is not None:
        span.say("factloop.response", lambda: response)
    return span


def note_score(span: Span, report: TrustReport) -> None:
    """Notes the outcome of a score, in numbers."""
    scores: dict[str, Value] = {
        "factloop.trust_bc": report.trust_bc.value,
        "factloop.trust_fc": report.trust_fc.value,
        "factloop.trust_ov": report.trust_ov.value,
    }
    span.set({**scores, **usage_values(report.usage)})
