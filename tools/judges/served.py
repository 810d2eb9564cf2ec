"""Judges behind a chat server: any chat model by a prompt of ours, and Bespoke-MiniCheck in its own words."""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal

from factloop.core.errors import ConfigError, FactloopError, ModelOutputError
from factloop.prompts.registry import PromptRegistry, RenderedPrompt
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together
from factloop.tools.judges.causal import BESPOKE_SYSTEM, bespoke_question
from factloop.tools.judges.pairs import Judge, PairScore, VerifierPair
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.logprobs import TOP_LOGPROBS, probabilities
from factloop.tools.models.schema import StructuredOutput
from factloop.tools.models.wire import ReplyToken

STAGE = "verify"
"""Name of the stage in the account of a run."""
N_WORDS = 20_000
"""Words of a chunk where the caller wishes for no other number: some 30,000 tokens, as Bespoke-MiniCheck takes."""
MAX_TOKENS = 1
"""Tokens of Bespoke-MiniCheck's reply: "Yes" or "No", as published."""
ATTRIBUTION = "verifiers/attribution"
_DRESS = re.compile(r"[\W_]+")


class ServedJudge(Judge):
    """Asks a chat model for yes or no; one call a chunk. Costs money where the model does.

    `prompt_sha256` is of what the model is told, and part of the judge's identity.
    """

    def __init__(self, gateway: ModelGateway, prompt_sha256: str, *, logprobs: bool) -> None:
        self._gateway = gateway
        self._prompt_sha256 = prompt_sha256
        self._top_logprobs = TOP_LOGPROBS if logprobs else 0

    @property
    def identity(self) -> dict[str, object]:
        return {
            "verifier": self.name,
            "model": dict(self._gateway.chat.identity),
            "prompt": self._prompt_sha256,
            "logprobs": self._top_logprobs > 0,
        }

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:
        return super().chunks(claim, document, n_words or N_WORDS)

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:
        """Reads as `Judge.read`: all are asked about at once, and a failure is that pair's own."""
        return await together([self._read_one(pair, meter) for pair in pairs])

    async def _read_one(self, pair: VerifierPair, meter: UsageMeter) -> PairScore:
        try:
            return PairScore(await self._ask(pair, meter))
        except ConfigError:
            raise
        except FactloopError as error:
            return PairScore(None, error)

    @abstractmethod
    async def _ask(self, pair: VerifierPair, meter: UsageMeter) -> float:
        """The degree of support. Raises FactloopError if the reply holds none."""


class Attribution(StructuredOutput):
    """Whether the document bears out all of the claim."""

    answer: Literal["yes", "no"]


class PromptedJudge(ServedJudge):
    """Any chat model, by the prompt `verifiers/attribution`.

    The score is P("yes") over P("yes") + P("no") at the token of the answer, where the server gives log-probabilities,
    and otherwise 1 or 0.
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


class ServedBespoke(ServedJudge):
    """`bespokelabs/Bespoke-MiniCheck-7B` behind any server that speaks OpenAI's protocol, by calls of one token.

    Input and score as in the authors' package (github.com/Liyan06/MiniCheck, `utils.py` and `LLMCheck` in
    `inference.py`): the score is the probability of "Yes", in any case, as the first token, among its five likeliest.
    Where the server gives no log-probabilities it is 1 for "Yes" and 0 for "No".

    Departures: an answer that is neither leaves the pair unscored, where the package has 0; chunks are counted in
    words, since a server does not lend its tokenizer.
    """

    def __init__(self, gateway: ModelGateway, *, logprobs: bool = True) -> None:
        super().__init__(gateway, hashlib.sha256(BESPOKE_SYSTEM.encode()).hexdigest(), logprobs=logprobs)

    @property
    def name(self) -> str:
        return f"bespoke:{self._gateway.chat.name.partition(':')[2] or self._gateway.chat.name}"

    async def _ask(self, pair: VerifierPair, meter: UsageMeter) -> float:
        """Raises ModelOutputError for an answer that is neither yes nor no."""
        prompt = RenderedPrompt(self.name, BESPOKE_SYSTEM, bespoke_question(pair.document, pair.claim))
        answer = await self._gateway.ask_freely(prompt, stage=STAGE, meter=meter, top_logprobs=self._top_logprobs)
        said = _bare(answer.text.strip().partition(" ")[0])
        if said not in ("yes", "no"):
            raise ModelOutputError('neither "Yes" nor "No"', schema=self.name, reply=answer.text)
        found = answer_probabilities(answer.tokens[:1], said)
        return float(said == "yes") if found is None else min(found["yes"], 1.0)


def answer_probabilities(tokens: Sequence[ReplyToken], said: str) -> Mapping[str, float] | None:
    """How probable "yes" and "no" were where the last token that is what was `said` stands; None where none is.

    Forms of one word add up ("Yes", " yes", '"yes'). What is not among the alternatives counts as 0, as it is below all
    that are; None where the numbers given add up to nothing.
    """
    places = [token for token in tokens if _bare(token.text) == said]
    if not places:
        return None
    found = {"yes": 0.0, "no": 0.0}
    for text, share in probabilities(places[-1]).items():
        if _bare(text) in found:
            found[_bare(text)] += share
    return found if sum(found.values()) > 0.0 else None


def _bare(token: str) -> str:
    """The token's word in lower case, without the quotes, spaces and marks around it."""
    return _DRESS.sub("", token).lower() if len(token) < 16 else ""
