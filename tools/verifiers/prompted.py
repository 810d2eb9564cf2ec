"""A chat model as a verifier of pairs: whether a document bears out a claim, and with what probability it says so."""

from __future__ import annotations

from typing import Literal

from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.schema import StructuredOutput
from factloop.tools.verifiers.chat_reader import STAGE, ChatReader, answer_probabilities
from factloop.tools.verifiers.pairs import VerifierPair

ATTRIBUTION = "verifiers/attribution"


class Attribution(StructuredOutput):
    """Whether the document bears out all of the claim."""

    answer: Literal["yes", "no"]


class PromptedReader(ChatReader):
    """A `PairReader` that asks a chat model by the prompt `verifiers/attribution`.

    The score is P("yes") over P("yes") + P("no") at the token of the answer, where the server gives log-probabilities,
    and otherwise 1 or 0. A document of more than 20,000 words is cut into chunks.
    """

    def __init__(self, gateway: ModelGateway, prompts: PromptRegistry, *, logprobs: bool = True) -> None:
        self._prompt = prompts[ATTRIBUTION]
        super().__init__(gateway, self._prompt.sha256, logprobs=logprobs)

    @property
    def name(self) -> str:
        return f"llm:{self._gateway.chat.name}"

    async def _ask(self, pair: VerifierPair, meter: UsageMeter) -> float:
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
