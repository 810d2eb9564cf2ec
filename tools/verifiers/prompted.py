"""A chat model as a verifier of pairs: whether a document bears out a claim, and with what probability it says so."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from factloop.errors import ConfigError, FactloopError
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.wire import Token
from factloop.tools.verifiers.chunks import cut_by_words
from factloop.tools.verifiers.pairs import Pair, Scored

ATTRIBUTION = "verifiers/attribution"
STAGE = "verify"
"""Name of the stage in the account of a run."""
TOP_LOGPROBS = 5
"""As many as every server allows that gives any."""
N_WORDS = 20_000
"""Words of a chunk where the caller wishes for no other number: some 30,000 tokens, as Bespoke-MiniCheck takes."""
_DRESS = re.compile(r"[\W_]+")

Ask = Callable[[Pair], Awaitable[float]]


class Attribution(BaseModel):
    """Whether the document bears out all of the claim."""

    model_config = ConfigDict(extra="ignore", strict=True)

    answer: Literal["yes", "no"]


class PromptedReader:
    """A `PairReader` that asks a chat model by the prompt `verifiers/attribution`; one call a chunk.

    The score is P("yes") over P("yes") + P("no") at the token of the answer, where the server gives log-probabilities,
    and otherwise 1 or 0. A document of more than 20,000 words is cut into chunks.
    """

    def __init__(self, gateway: ModelGateway, prompts: PromptRegistry, *, logprobs: bool = True) -> None:
        self._gateway, self._prompt = gateway, prompts[ATTRIBUTION]
        self._top_logprobs = TOP_LOGPROBS if logprobs else 0

    @property
    def name(self) -> str:
        return f"llm:{self._gateway.chat.name}"

    @property
    def identity(self) -> dict[str, object]:
        return {
            "verifier": self.name,
            "model": dict(self._gateway.chat.identity),
            "prompt": self._prompt.sha256,
            "logprobs": self._top_logprobs > 0,
        }

    def parts(self, claim: str) -> Sequence[str]:
        return (claim,)

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:  # noqa: ARG002 - all claims fit
        return cut_by_words(document, n_words or N_WORDS)

    async def read(self, pairs: Sequence[Pair], *, meter: UsageMeter) -> list[Scored]:
        async def ask(pair: Pair) -> float:
            answered = await self._gateway.ask_graded(
                self._prompt.render(document=pair.document, claim=pair.claim),
                Attribution,
                stage=STAGE,
                meter=meter,
                top_logprobs=self._top_logprobs,
            )
            said = answered.value.answer
            share = answer_probabilities(answered.tokens, said)
            return float(said == "yes") if share is None else share["yes"] / sum(share.values())

        return await ask_each(ask, pairs)


async def ask_each(ask: Ask, pairs: Sequence[Pair]) -> list[Scored]:
    """What was said of each pair, all asked at once; a failure is that pair's own. Raises ConfigError."""

    async def scored(pair: Pair) -> Scored:
        try:
            return Scored(await ask(pair))
        except ConfigError:
            raise
        except FactloopError as error:
            return Scored(None, error)

    return await together([scored(pair) for pair in pairs])


def answer_probabilities(tokens: Sequence[Token], said: str) -> Mapping[str, float] | None:
    """How probable "yes" and "no" were where the last token that is what was `said` stands; None where none is.

    Forms of one word add up ("Yes", " yes", '"yes'). What is not among the alternatives counts as 0, as it is below all
    that are; None where the numbers given add up to nothing.
    """
    places = [token for token in tokens if bare(token.text) == said]
    if not places:
        return None
    found = {"yes": 0.0, "no": 0.0}
    for text, logprob in places[-1].alternatives.items():
        if bare(text) in found and not math.isnan(logprob):
            found[bare(text)] += math.exp(min(logprob, 0.0))
    return found if sum(found.values()) > 0.0 else None


def bare(token: str) -> str:
    """The token's word in lower case, without the quotes, spaces and marks around it."""
    return _DRESS.sub("", token).lower() if len(token) < 16 else ""
