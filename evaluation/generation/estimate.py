"""Estimates what a generation costs at most, without spending anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from factloop.agents.longfact.graph import most_rounds
from factloop.agents.longfact.writer import EXAMPLES_SHOWN, MOST_KNOWN, PER_ROUND, PROMPT_OF
from factloop.evaluation.generation.records import GenerationEstimate, Kind
from factloop.evaluation.generation.response_file import ModelPrompt
from factloop.evaluation.generation.settings import PromptSettings, ResponseSettings
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import price_of
from factloop.tools.models.prices import count_tokens

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
