"""Settings of generation, and what it costs by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from factloop.agents.longfact.graph import most_rounds
from factloop.agents.longfact.writer import EXAMPLES_SHOWN, MOST_KNOWN, PER_ROUND, PROMPT_OF
from factloop.core.errors import ConfigError
from factloop.evaluation.generation.records import GenerationEstimate, Kind
from factloop.evaluation.generation.response_file import ModelPrompt
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import price_of
from factloop.setup.marks import LIMITS, MODEL, Mark
from factloop.setup.settings import BaseUrl, Positive, RunSettings, Temperature, Tokens
from factloop.tools.models.tokens import count_tokens


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


SCHEMA_TOKENS = 60
"""Tokens of the schema that goes with each request for prompts."""
TOKENS_OF_A_PROMPT = 40
"""Tokens of a prompt among those that the model is shown: some 20 are usual."""


def estimate_responses(asked: Iterable[ModelPrompt], settings: ResponseSettings) -> GenerationEstimate:
    """An upper bound for one response to each. Costs nothing and needs no key."""
    prompts = [count_tokens(prompt.text) for prompt in asked]
    return _bound(settings, len(prompts), sum(prompts))


def estimate_prompts(topics: Sequence[str], n: int, kind: Kind, settings: PromptSettings) -> GenerationEstimate:
    """An upper bound for `n` prompts on each topic. Costs nothing and needs no key."""
    calls, tokens = 0, 0
    prompt = PromptRegistry.load(settings.prompts)[PROMPT_OF[kind]]
    for topic in topics:
        rounds = most_rounds(n)
        rendered = prompt.render(topic=topic, number=str(PER_ROUND), example=None, known=None)
        shown = TOKENS_OF_A_PROMPT * (EXAMPLES_SHOWN + min(n, MOST_KNOWN))
        calls += rounds
        tokens += rounds * (count_tokens(rendered.system) + count_tokens(rendered.user) + SCHEMA_TOKENS + shown)
    return _bound(settings, calls, tokens)


def _bound(settings: ResponseSettings, calls: int, prompt_tokens: int) -> GenerationEstimate:
    price = price_of(settings, settings.named_model, settings.base_url)
    completion = None if settings.max_tokens is None else calls * settings.max_tokens
    return GenerationEstimate(
        most_calls=calls,
        most_prompt_tokens=prompt_tokens,
        most_completion_tokens=completion,
        most_usd=None if price is None or completion is None else price.cost_usd(prompt_tokens, completion),
    )
