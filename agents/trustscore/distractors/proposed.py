"""Substitutes that a model proposes for the words of one response, in a single call: a further source, by choice.

What is proposed is checked as everything else is: it differs from the response, stands nowhere in it or the question,
and is neither a form nor a part of what it replaces (`distinct.Sieve`). Besides, it says no reference answer that is
known, which a model may know as well (`distinct.says_reference`). A departure: the paper asks no model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factloop.agents.trustscore.distractors.base import Request, Substitute, Target
from factloop.agents.trustscore.records import Source
from factloop.agents.trustscore.schemas import Substitutes
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter

if TYPE_CHECKING:  # distractors from tables alone need no client of models
    from factloop.tools.models.gateway import ModelGateway

SUBSTITUTES = "trustscore/substitutes"
PROPOSE = "substitutes"
"""Name of the stage in the account of a run."""
MOST_WORDS = 6
"""Targets that a model is asked about: the best of a response give all the distractors that are wanted."""


@dataclass(frozen=True)
class ModelProposer:
    """A chat model that proposes substitutes. Costs one call a response; answers are kept as all answers are."""

    gateway: ModelGateway
    prompts: PromptRegistry

    async def propose(
        self, question: str, response: str, targets: Sequence[Target], *, meter: UsageMeter
    ) -> ProposedSource:
        """What the model has for the best targets. Raises ToolError, ModelOutputError, BudgetExceeded, ConfigError."""
        words = list(dict.fromkeys(target.text for target in targets))[:MOST_WORDS]
        if not words:
            return ProposedSource({}, self.gateway.chat.name)
        prompt = self.prompts[SUBSTITUTES].render(question=question or None, answer=response, word=words)
        found = await self.gateway.ask_for(prompt, Substitutes, stage=PROPOSE, meter=meter)
        asked = {_key(word) for word in words}
        given = {_key(group.word): group.instead for group in found.groups if _key(group.word) in asked}
        return ProposedSource(given, self.gateway.chat.name)


@dataclass(frozen=True)
class ProposedSource:
    """A SubstituteSource of what was proposed for one response."""

    given: Mapping[str, Sequence[str]]
    """Word, in small letters, to what may stand in its place."""
    model: str

    @property
    def name(self) -> str:
        return f"model {self.model}"

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        """Substitutes in the model's order; none for a word that it was not asked about."""
        words = dict.fromkeys(" ".join(text.split()) for text in self.given.get(_key(target.text), ()))
        kept = [text for text in words if text and _key(text) != _key(target.text)]
        return [Substitute(text, Source.MODEL, f"proposed by {self.model}") for text in kept[: request.limit]]


def _key(word: str) -> str:
    return " ".join(word.casefold().split())
