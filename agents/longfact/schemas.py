"""Structured output that a model is asked for. The class name is the schema title, a public contract."""

from __future__ import annotations

from factloop.tools.models.schema import StructuredOutput


class LongFactPrompts(StructuredOutput):
    """Prompts on a topic."""

    prompts: list[str]
