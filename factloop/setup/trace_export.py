"""Exports OpenTelemetry traces, unless the application has already configured tracing."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.records import Usage
from factloop.tools.calls.modes import TracingMode
from factloop.tools.calls.tracing import Value

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

FLUSHED_WITHIN_MS = 2_000  # milliseconds for flushing on an interrupt; normal exits use OTEL_EXPORTER_OTLP_TIMEOUT
EXPORTER = "OTEL_TRACES_EXPORTER"


def open_tracing(mode: TracingMode) -> None:
    """Sets up the export, unless tracing is off or already set up. Sends pending traces when the process exits.

    `OTEL_TRACES_EXPORTER` selects the exporter: `otlp` (the default; OTLP over HTTP, configured by the
    OTEL_EXPORTER_OTLP_... variables), `console` (standard error), or `none`. Raises ConfigError.
    """
    if mode == "off":
        return
    require("tracing", "tracing", "opentelemetry.sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    exporter = _exporter(os.environ.get(EXPORTER) or "otlp")
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "factloop"}
    provider = TracerProvider(resource=Resource.create(named))
    if exporter is not None:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)


def flush_traces() -> None:
    """Sends pending traces from a process that is about to exit without cleaning up."""
    if (trace := sys.modules.get("opentelemetry.trace")) is not None:
        flush = getattr(trace.get_tracer_provider(), "force_flush", None)
        if flush is not None:
            flush(FLUSHED_WITHIN_MS)


def _exporter(name: str) -> SpanExporter | None:
    if name == "none":
        return None
    if name == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)
    if name != "otlp":
        raise ConfigError(f"environment variable {EXPORTER} must be otlp, console or none, not {name!r}")
    require("tracing", "sending traces by OTLP over HTTP")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def usage_values(usage: Usage) -> dict[str, Value]:
    """The usage of a whole check or score, as span attributes."""
    return {
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "factloop.calls": usage.calls,
        "factloop.failed_calls": usage.failed_calls,
        "factloop.cache_hits": usage.cache_hits,
        "factloop.searches": usage.searches,
        "factloop.cost_usd": usage.cost_usd,
    }
