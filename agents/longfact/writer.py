"""Asks a model for prompts on a topic, with examples that show the style."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.schema import StructuredOutput

EXAMPLES: Mapping[str, Sequence[str]] = {
    "objects": (
        "What can you tell me about the Corliss steam engine shown in Philadelphia in 1876?",
        "Who was the glassmaker Maurice Marinot?",
        "What happened in the Halifax Explosion?",
        "Could you describe the Rideau Canal?",
        "What is known about the frigate Jylland?",
        "Please give me an overview of the Treaty of Tordesillas.",
        "Can you tell me about the Svalbard Global Seed Vault?",
        "What is the Antikythera mechanism?",
        "Who is the weaver Sheila Hicks?",
        "What took place at the Congress of Gniezno?",
        "Could you introduce me to the Vasa Museum?",
        "What do you know about the coelacanth caught off East London in 1938?",
    ),
    "concepts": (
        "What is meant by isostatic rebound, and where can it be observed?",
        "Can you explain how double-entry bookkeeping keeps accounts in balance?",
        "What does the doctrine of laches say, and how have courts applied it?",
        "How does countercurrent exchange work in the bodies of animals?",
        "Please explain the principle of comparative advantage with the examples it is known for.",
        "What is equal temperament, and how did it come to be used?",
        "Could you describe what philologists call the lectio difficilior?",
        "How does a hash table resolve collisions, and what are the usual methods?",
        "What is meant by the tragedy of the commons?",
        "Can you explain the idea of path dependence in the history of technology?",
        "What is cavitation, and which machines does it harm?",
        "How do linguists define ergativity, and in which languages is it found?",
    ),
}
"""Our own example prompts of each kind, on subjects that LongFact does not cover."""


class LongFactPrompts(StructuredOutput):
    prompts: list[str]


PROMPT_OF: Mapping[str, str] = {"objects": "longfact/objects", "concepts": "longfact/concepts"}
WRITE = "write_prompts"
"""Name of this stage in usage reports."""
PER_ROUND = 10
"""Number of prompts requested per call."""
FEWEST = 5
"""Minimum number of prompts to request, even if fewer are needed, because some will be dropped."""
EXAMPLES_SHOWN = 5
MOST_KNOWN = 100
"""Maximum number of earlier prompts to list in a request, so that the model does not repeat them."""


class Writer(Protocol):
    """Proposes prompts on a topic. `rng` chooses the examples and earlier prompts to show to the model."""

    async def propose(self, topic: str, n: int, known: Sequence[str], rng: random.Random) -> Sequence[str]: ...


@dataclass(frozen=True)
class ModelWriter:
    """Asks a chat model for prompts and records the usage in `meter`."""

    gateway: ModelGateway
    prompts: PromptRegistry
    kind: str
    meter: UsageMeter

    async def propose(self, topic: str, n: int, known: Sequence[str], rng: random.Random) -> Sequence[str]:
        """Returns about `n` prompts, which may repeat earlier ones. Costs money. Raises the gateway's errors."""
        asked = self.prompts[PROMPT_OF[self.kind]].render(
            topic=topic,
            number=str(n),
            example=rng.sample(EXAMPLES[self.kind], EXAMPLES_SHOWN),
            known=known if len(known) <= MOST_KNOWN else rng.sample(known, MOST_KNOWN),
        )
        answer = await self.gateway.ask_for(asked, LongFactPrompts, stage=WRITE, meter=self.meter)
        return answer.prompts
