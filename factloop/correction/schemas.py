"""Structured outputs that a model is asked for. The class name is the schema title, a public contract."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RewrittenSentence(BaseModel):
    """A sentence without what is not supported."""

    model_config = ConfigDict(extra="ignore", strict=True)

    sentence: str
    """Empty where nothing of it remains."""
