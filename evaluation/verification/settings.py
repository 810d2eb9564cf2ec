"""Settings of `factloop verify`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from factloop.setup.settings import BaseUrl, RunSettings


class VerifySettings(RunSettings):
    """What shapes the scores of verifiers that are chat models."""

    base_url: BaseUrl | None = None
    """Of any OpenAI-compatible server."""
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = 0.0
    """None leaves it to the server."""
    logprobs: bool = True
    """Ask for the probabilities of the answer's tokens, where the server gives them."""
