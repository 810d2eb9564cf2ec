"""Settings of generation."""

from __future__ import annotations

from typing import Annotated

from factloop.core.errors import ConfigError
from factloop.setup.marks import LIMITS, MODEL, Mark
from factloop.setup.settings import BaseUrl, Positive, RunSettings, Temperature, Tokens


class ResponseSettings(RunSettings):
    """How the model under test is asked. Names are those of the command line's flags."""

    model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """The model that writes, such as openai:gpt-4o-mini."""
    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """Address of an OpenAI-compatible server."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.5
    """As in the code released with the paper.

    None leaves it to the server."""
    max_tokens: Annotated[Tokens | None, Mark(MODEL)] = 4096
    """Tokens of one response, which is cut off there.

    The paper's code stops at 1,024: long responses lose their ends."""
    timeout_s: Annotated[Positive, Mark(LIMITS)] = 300.0
    """Seconds for one response.

    Long ones take minutes on a slow server."""
    seed: int = 0
    """Seed of everything drawn at random.

    Which prompts, the jitter of retries."""

    @property
    def named_model(self) -> str:
        """The model. Raises ConfigError where none is named."""
        if self.model is None:
            raise ConfigError("name the model that writes (--model), for example openai:gpt-4o-mini")
        return self.model


class PromptSettings(ResponseSettings):
    """How a model is asked for prompts."""

    temperature: Annotated[Temperature | None, Mark(MODEL)] = 1.0
    """As in the code released with the paper.

    None leaves it to the server."""
    max_tokens: Annotated[Tokens | None, Mark(MODEL)] = 1024
    """Tokens of one reply."""
    timeout_s: Annotated[Positive, Mark(LIMITS)] = 60.0
    """Seconds for one model call."""
    seed: int = 0
    """Seed of the examples shown; another one, other prompts."""
