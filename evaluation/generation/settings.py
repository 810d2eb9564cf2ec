"""Settings for generating text, and estimates of the cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from langchain_core.language_models import BaseChatModel

from factloop.agents.longfact.graph import most_rounds
from factloop.agents.longfact.writer import EXAMPLES_SHOWN, MOST_KNOWN, PER_ROUND, PROMPT_OF
from factloop.core.errors import ConfigError
from factloop.evaluation.datasets.longfact import AnyPrompt
from factloop.evaluation.generation.records import GenerationEstimate, Kind
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model, price_of
from factloop.setup.marks import LIMITS, MODEL, Mark
from factloop.setup.settings import BaseUrl, Positive, RunSettings, Temperature, Tokens
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.tokens import count_tokens


class ResponseSettings(RunSettings):
    """Settings for prompting the model under test. The names match the command-line flags."""

    model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Model that writes the text, such as openai:gpt-4o-mini."""
    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """URL of an OpenAI-compatible server."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.5
    """Sampling temperature, as in the code released with the paper.

    None uses the server's default."""
    max_tokens: Annotated[Tokens | None, Mark(MODEL)] = 4096
    """Maximum length of a response, in tokens. Longer responses are cut off.

    The paper's code stops at 1,024, which truncates long responses."""
    timeout_s: Annotated[Positive, Mark(LIMITS)] = 300.0
    """Timeout for each response.

    Long responses take minutes on a slow server."""
    seed: int = 0
    """Random seed.

    This covers the choice of prompts and the jitter of retries."""

    @property
    def named_model(self) -> str:
        """Raises ConfigError if no model is set."""
        if self.model is None:
            raise ConfigError("use --model to set the model that writes the text, for example openai:gpt-4o-mini")
        return self.model

    def writer(self, model: BaseChatModel | None) -> ChatModel:
        """Returns the caller's model, or else the one in the settings. Raises ConfigError if there is neither."""
        given = self.named_model if model is None else model
        return build_model(self, given, base_url=self.base_url, temperature=self.temperature)


class PromptSettings(ResponseSettings):
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 1.0
    """Sampling temperature, as in the code released with the paper.

    None uses the server's default."""
    max_tokens: Annotated[Tokens | None, Mark(MODEL)] = 1024
    """Maximum length of a model reply, in tokens."""
    timeout_s: Annotated[Positive, Mark(LIMITS)] = 60.0
    """Timeout for each model call."""
    seed: int = 0
    """Random seed for choosing the examples in each request. A different seed gives different prompts."""


SCHEMA_TOKENS = 60
"""Tokens in the schema that is sent with each request for prompts."""
TOKENS_OF_A_PROMPT = 40
"""Assumed number of tokens in each prompt shown to the model. Typical prompts have about 20."""


def estimate_responses(asked: Iterable[AnyPrompt], settings: ResponseSettings) -> GenerationEstimate:
    """Returns an upper bound on the cost of generating one response to each prompt. Costs nothing and needs no key."""
    prompts = [count_tokens(prompt.sent or prompt.prompt) for prompt in asked]
    return _bound(settings, len(prompts), sum(prompts))


def estimate_prompts(topics: Sequence[str], n: int, kind: Kind, settings: PromptSettings) -> GenerationEstimate:
    """Returns an upper bound on the cost of generating `n` prompts on each topic. Costs nothing and needs no key."""
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
