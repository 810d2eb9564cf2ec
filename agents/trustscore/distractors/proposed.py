"""Asks a model for substitutes for the words in a response, in a single call. This is optional, and not in the paper.

Proposals are checked like all other substitutes (`generate.Sieve`). In addition, they must not state a known right
answer, which the model may know too (`generate.says_reference`).
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

if TYPE_CHECKING:  # distractors from tables alone do not need a model client
    from factloop.tools.models.gateway import ModelGateway

SUBSTITUTES = "trustscore/substitutes"
PROPOSE = "substitutes"
MOST_WORDS = 6
"""Maximum number of targets to send to the model. A few of the best ones yield enough distractors."""


@dataclass(frozen=True)
class ModelProposer:
    """Asks a chat model for substitutes. Costs one call per response."""

    gateway: ModelGateway
    prompts: PromptRegistry

    async def propose(
        self, question: str, response: str, targets: Sequence[Target], *, meter: UsageMeter
    ) -> ProposedSource:
        """Returns proposals for the best targets. Raises ToolError, ModelOutputError, BudgetExceeded or ConfigError."""
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
    given: Mapping[str, Sequence[str]]
    """Maps a word in lowercase to its possible replacements."""
    model: str

    @property
    def name(self) -> str:
        return f"model {self.model}"

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        words = dict.fromkeys(" ".join(text.split()) for text in self.given.get(_key(target.text), ()))
        kept = [text for text in words if text and _key(text) != _key(target.text)]
        return [Substitute(text, Source.MODEL, f"proposed by {self.model}") for text in kept[: request.limit]]


def _key(word: str) -> str:
    return " ".join(word.casefold().split())
