"""Judges on a chat server: any chat model with factloop's prompt, or Bespoke-MiniCheck with its own."""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

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
N_WORDS = 20_000
"""Default number of words in a chunk: about 30,000 tokens, which Bespoke-MiniCheck accepts."""
MAX_TOKENS = 1
"""Maximum number of tokens in a reply of Bespoke-MiniCheck, which answers "Yes" or "No"."""
ATTRIBUTION, ELIGIBILITY = "verifiers/attribution", "verifiers/eligibility"
_DRESS = re.compile(r"[\W_]+")


class ServedJudge(Judge):
    """Asks a chat model to answer yes or no, with one call per chunk.

    `prompt_sha256` is the hash of the model's instructions, and part of the judge's identity.
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
        return await together([self._read_one(pair, meter) for pair in pairs])

    async def _read_one(self, pair: VerifierPair, meter: UsageMeter) -> PairScore:
        try:
            return PairScore(await self._ask(pair, meter))
        except ConfigError:
            raise
        except FactloopError as error:
            return PairScore(None, error)

    @abstractmethod
    async def _ask(self, pair: VerifierPair, meter: UsageMeter) -> float: ...


class Attribution(StructuredOutput):
    """Whether the document bears out all of the claim."""

    answer: Literal["yes", "no"]


class Eligibility(Attribution):
    """Whether the response does what the request asks for."""


class PromptedJudge(ServedJudge):
    """Uses any chat model with the `verifiers/attribution` prompt.

    The score is P("yes") / (P("yes") + P("no")) at the answer's token, or 1 or 0 if the server returns no
    log-probabilities.
    """

    prompt_name: ClassVar[str] = ATTRIBUTION
    output: ClassVar[type[Attribution]] = Attribution
    variables: ClassVar[tuple[str, str]] = ("document", "claim")
    stage: ClassVar[str] = STAGE

    def __init__(self, gateway: ModelGateway, prompts: PromptRegistry, *, logprobs: bool = True) -> None:
        self._prompt = prompts[self.prompt_name]
        super().__init__(gateway, self._prompt.sha256, logprobs=logprobs)

    @property
    def name(self) -> str:
        return f"llm:{self._gateway.chat.name}"

    async def _ask(self, pair: VerifierPair, meter: UsageMeter) -> float:
        answered = await self._gateway.ask_graded(
            self._prompt.render(**dict(zip(self.variables, (pair.document, pair.claim), strict=True))),
            self.output,
            stage=self.stage,
            meter=meter,
            top_logprobs=self._top_logprobs,
        )
        said = answered.value.answer
        share = answer_probabilities(answered.tokens, said)
        return float(said == "yes") if share is None else share["yes"] / sum(share.values())


class EligibilityJudge(PromptedJudge):
    """Asks any chat model whether a response (a pair's claim) does what its request (the document) asks for."""

    prompt_name = ELIGIBILITY
    output = Eligibility
    variables = ("request", "response")
    stage = "eligibility"

    @property
    def name(self) -> str:
        return self._gateway.chat.name


class ServedBespoke(ServedJudge):
    """`bespokelabs/Bespoke-MiniCheck-7B` on any server with an OpenAI-compatible API. Replies have one token.

    The input and the score follow the authors' package (github.com/Liyan06/MiniCheck, `utils.py` and `LLMCheck` in
    `inference.py`). The score is the probability of "Yes", ignoring case, among the five most likely first tokens, or 1
    or 0 without log-probabilities.

    Departures: any other answer leaves the pair unscored, whereas the package returns 0. Chunk sizes are counted in
    words, because the server's tokenizer is not available.
    """

    def __init__(self, gateway: ModelGateway, *, logprobs: bool = True) -> None:
        super().__init__(gateway, hashlib.sha256(BESPOKE_SYSTEM.encode()).hexdigest(), logprobs=logprobs)

    @property
    def name(self) -> str:
        return f"bespoke:{self._gateway.chat.name.partition(':')[2] or self._gateway.chat.name}"

    async def _ask(self, pair: VerifierPair, meter: UsageMeter) -> float:
        prompt = RenderedPrompt(self.name, BESPOKE_SYSTEM, bespoke_question(pair.document, pair.claim))
        answer = await self._gateway.ask_freely(prompt, stage=STAGE, meter=meter, top_logprobs=self._top_logprobs)
        said = _bare(answer.text.strip().partition(" ")[0])
        if said not in ("yes", "no"):
            raise ModelOutputError('the reply must be "Yes" or "No"', schema=self.name, reply=answer.text)
        found = answer_probabilities(answer.tokens[:1], said)
        return float(said == "yes") if found is None else min(found["yes"], 1.0)


def answer_probabilities(tokens: Sequence[ReplyToken], said: str) -> Mapping[str, float] | None:
    """Returns the probabilities of "yes" and "no" at the last token that equals `said`.

    All forms of a word count ("Yes", " yes", '"yes'). A word that the server does not list counts as 0. Returns None if
    no token equals `said` or both probabilities are 0.
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
    return _DRESS.sub("", token).lower() if len(token) < 16 else ""
