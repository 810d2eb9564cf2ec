"""Bespoke-MiniCheck, a 7B model for this one question, behind any server that speaks OpenAI's protocol."""

from __future__ import annotations

import hashlib

from factloop.core.errors import ModelOutputError
from factloop.prompts.registry import RenderedPrompt
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import FreeAnswer, ModelGateway
from factloop.tools.verifiers.chat_reader import STAGE, ChatReader, answer_probabilities, bare
from factloop.tools.verifiers.pairs import VerifierPair

MAX_TOKENS = 1
"""Tokens of a reply: "Yes" or "No", as published."""
SYSTEM = (
    "Determine whether the provided claim is consistent with the corresponding document. Consistency in this context "
    "implies that all information presented in the claim is substantiated by the document. If not, it should be "
    "considered inconsistent. Please assess the claim's consistency with the document by responding with either "
    '"Yes" or "No".'
)
"""The model was trained on these words, so they are part of its input's format and no prompt to be varied."""


class BespokeReader(ChatReader):
    """A `PairReader` of `bespokelabs/Bespoke-MiniCheck-7B`, by calls of one token.

    Input and score as in the authors' package (github.com/Liyan06/MiniCheck, `utils.py` and `LLMCheck` in
    `inference.py`): the score is the probability of "Yes", in any case, as the first token, among its five likeliest.
    Where the server gives no log-probabilities it is 1 for "Yes" and 0 for "No".

    Departures: an answer that is neither leaves the pair unscored, where the package has 0; chunks are of 20,000 words,
    which are some 30,000 tokens, since a server does not lend its tokenizer.
    """

    def __init__(self, gateway: ModelGateway, *, logprobs: bool = True) -> None:
        super().__init__(gateway, hashlib.sha256(SYSTEM.encode()).hexdigest(), logprobs=logprobs)

    @property
    def name(self) -> str:
        return f"bespoke:{self._gateway.chat.name.partition(':')[2] or self._gateway.chat.name}"

    async def _ask(self, pair: VerifierPair, meter: UsageMeter) -> float:
        prompt = RenderedPrompt(self.name, SYSTEM, f"Document: {pair.document}\nClaim: {pair.claim}")
        answer = await self._gateway.ask_freely(prompt, stage=STAGE, meter=meter, top_logprobs=self._top_logprobs)
        return self._score(answer)

    def _score(self, answer: FreeAnswer) -> float:
        """Raises ModelOutputError for an answer that is neither yes nor no."""
        said = bare(answer.text.strip().partition(" ")[0])
        if said not in ("yes", "no"):
            raise ModelOutputError('neither "Yes" nor "No"', schema=self.name, reply=answer.text)
        found = answer_probabilities(answer.tokens[:1], said)
        return float(said == "yes") if found is None else min(found["yes"], 1.0)
