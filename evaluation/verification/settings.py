"""Settings of `factloop verify`."""

from __future__ import annotations

from typing import Annotated

from factloop.setup.marks import MODEL, Mark
from factloop.setup.settings import BaseUrl, RunSettings, Temperature


class VerifySettings(RunSettings):
    """Settings of verifiers that are chat models."""

    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """Address of an OpenAI-compatible server."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.0
    """Temperature of the models.

    None leaves it to the server."""
    logprobs: Annotated[bool, Mark(MODEL)] = True
    """Score by the answer's probability, where the server gives it; else 0 or 1."""
