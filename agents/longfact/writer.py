"""Asks a model for prompts on a topic."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from factloop.agents.longfact.examples import EXAMPLES
from factloop.agents.longfact.schemas import LongFactPrompts
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway

PROMPT_OF: Mapping[str, str] = {"objects": "longfact/objects", "concepts": "longfact/concepts"}
"""The name of the prompt file for each kind."""
WRITE = "write_prompts"
"""Name of the stage in the account of a run."""
PER_ROUND = 10
"""Prompts asked for at a time."""
FEWEST = 5
"""Asked for even where fewer are missing, since some will be dropped."""
EXAMPLES_SHOWN = 5
MOST_KNOWN = 100
"""Prompts kept so far that the model is shown, so that it finds others."""


class Writer(Protocol):
    """Proposes prompts on a topic, by `rng` in the choice of what it shows the model."""

    async def propose(self, topic: str, n: int, known: Sequence[str], rng: random.Random) -> Sequence[str]: ...


@dataclass(frozen=True)
class ModelWriter:
    """A chat model as the writer; its calls are charged to `meter`."""

    gateway: ModelGateway
    prompts: PromptRegistry
    kind: str
    meter: UsageMeter

    async def propose(self, topic: str, n: int, known: Sequence[str], rng: random.Random) -> Sequence[str]:
        """About `n` prompts, some of which may be known. Costs money. Raises as the gateway does."""
        asked = self.prompts[PROMPT_OF[self.kind]].render(
            topic=topic,
            number=str(n),
            example=rng.sample(EXAMPLES[self.kind], EXAMPLES_SHOWN),
            known=known if len(known) <= MOST_KNOWN else rng.sample(known, MOST_KNOWN),
        )
        answer = await self.gateway.ask_for(asked, LongFactPrompts, stage=WRITE, meter=self.meter)
        return answer.prompts
