"""What the spans of whole checks and scores have in common, for OpenTelemetry."""

from __future__ import annotations

from factloop.core.records import Usage
from factloop.tools.calls.tracing import Value


def usage_values(usage: Usage) -> dict[str, Value]:
    """What a whole check or score took, as a span says it."""
    return {
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "factloop.calls": usage.calls,
        "factloop.failed_calls": usage.failed_calls,
        "factloop.cache_hits": usage.cache_hits,
        "factloop.searches": usage.searches,
        "factloop.cost_usd": usage.cost_usd,
    }
