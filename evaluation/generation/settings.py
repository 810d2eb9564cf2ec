"""Settings of what lets a model write."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from factloop.core.errors import ConfigError
from factloop.setup.settings import BaseUrl, Positive, RunSettings

Temperature = Annotated[float, Field(ge=0.0, le=2.0)] | None


class ResponseSettings(RunSettings):
    """How the model under test is asked. Names are those of the command line's flags."""

    model: str | None = None
    """`provider:name`, for example `openai:gpt-4o-mini`."""
    base_url: BaseUrl | None = None
    """Of any OpenAI-compatible server."""
    temperature: Temperature = 0.5
    """As in the code released with the paper; None leaves it to the server."""
    max_tokens: Annotated[int, Field(ge=64)] | None = 4096
    """Of one response, which is cut off there. The paper's code stops at 1,024: long responses lose their ends."""
    timeout_s: Positive = 300.0
    """For one response: long ones take minutes on a slow server."""
    seed: int = 0
    """Of everything drawn at random: which prompts, the jitter of retries."""

    @property
    def named_model(self) -> str:
        """The model. Raises ConfigError where none is named."""
        if self.model is None:
            raise ConfigError("name the model that is to write (--model), for example openai:gpt-4o-mini")
        return self.model


class PromptSettings(ResponseSettings):
    """How a model is asked for prompts."""

    temperature: Temperature = 1.0
    """As in the code released with the paper; None leaves it to the server."""
    max_tokens: Annotated[int, Field(ge=64)] | None = 1024
    timeout_s: Positive = 60.0
