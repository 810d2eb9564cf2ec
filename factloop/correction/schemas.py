"""Structured outputs that a model is asked for. The class name is the schema title, a public contract."""

from __future__ import annotations

from factloop.tools.models.schema import StructuredOutput


class RewrittenSentence(StructuredOutput):
    """A sentence without what is not supported."""

    sentence: str
    """Empty where nothing of it remains."""
