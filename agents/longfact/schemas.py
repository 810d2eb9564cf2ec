"""Structured output that a model is asked for. The class name is the schema title, a public contract."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class LongFactPrompts(BaseModel):
    """Prompts on a topic."""

    model_config = ConfigDict(extra="ignore", strict=True)  # a model wrote it

    prompts: list[str]
