"""The spans of whole checks and scores, for OpenTelemetry."""

from __future__ import annotations

from factloop.core.records import FactualityReport, Fingerprint, Usage
from factloop.core.trust_records import TrustReport
from factloop.setup.settings import CheckSettings
from factloop.setup.trust_settings import TrustSettings
from factloop.tools.calls.tracing import Span, Value, as_messages, graph_span

SAFE, TRUST = "factloop.safe", "factloop.trustscore"


def check_span(settings: CheckSettings, fingerprint: Fingerprint, prompt: str | None, response: str) -> Span:
    """The span of one response. Raises ConfigError where traces are asked for and OpenTelemetry is not installed."""
    span = graph_span(
        settings.tracing,
        SAFE,
        {
            "gen_ai.request.model": fingerprint.model,
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
    span.set({**found, **_usage(report.usage)})


def score_span(settings: TrustSettings, question: str, response: str | None) -> Span:
    """The span of one answer. Raises ConfigError as `check_span` does."""
    span = graph_span(settings.tracing, TRUST, {"gen_ai.request.model": settings.subject_model})
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
    span.set({**scores, **_usage(report.usage)})


def _usage(usage: Usage) -> dict[str, Value]:
    return {
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "factloop.calls": usage.calls,
        "factloop.failed_calls": usage.failed_calls,
        "factloop.cache_hits": usage.cache_hits,
        "factloop.searches": usage.searches,
        "factloop.cost_usd": usage.cost_usd,
    }
