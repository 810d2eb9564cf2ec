"""The shared parts of verifiers behind a chat server: how pairs are asked about, and how answers become scores."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from factloop.core.errors import ConfigError, FactloopError
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.logprobs import TOP_LOGPROBS, probabilities
from factloop.tools.models.wire import ReplyToken
from factloop.tools.verifiers.chunks import cut_by_words
from factloop.tools.verifiers.pairs import PairScore, VerifierPair

STAGE = "verify"
"""Name of the stage in the account of a run."""
N_WORDS = 20_000
"""Words of a chunk where the caller wishes for no other number: some 30,000 tokens, as Bespoke-MiniCheck takes."""
_DRESS = re.compile(r"[\W_]+")


class ChatReader(ABC):
    """A `PairReader` that asks a chat model for yes or no; one call a chunk. Costs money where the model does.

    `prompt_sha256` is of what the model is told, and part of the reader's identity.
    """

    def __init__(self, gateway: ModelGateway, prompt_sha256: str, *, logprobs: bool) -> None:
        self._gateway = gateway
        self._prompt_sha256 = prompt_sha256
        self._top_logprobs = TOP_LOGPROBS if logprobs else 0

    @property
    @abstractmethod
    def name(self) -> str:
        """The reader's name, as `PairReader.name`."""

    @property
    def identity(self) -> dict[str, object]:
        return {
            "verifier": self.name,
            "model": dict(self._gateway.chat.identity),
            "prompt": self._prompt_sha256,
            "logprobs": self._top_logprobs > 0,
        }

    def parts(self, claim: str) -> Sequence[str]:
        return (claim,)

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:  # noqa: ARG002 - all claims fit
        return cut_by_words(document, n_words or N_WORDS)

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:
        """Reads as `PairReader.read`: all are asked about at once, and a failure is that pair's own."""
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


def answer_probabilities(tokens: Sequence[ReplyToken], said: str) -> Mapping[str, float] | None:
    """How probable "yes" and "no" were where the last token that is what was `said` stands; None where none is.

    Forms of one word add up ("Yes", " yes", '"yes'). What is not among the alternatives counts as 0, as it is below all
    that are; None where the numbers given add up to nothing.
    """
    places = [token for token in tokens if bare(token.text) == said]
    if not places:
        return None
    found = {"yes": 0.0, "no": 0.0}
    for text, share in probabilities(places[-1]).items():
        if bare(text) in found:
            found[bare(text)] += share
    return found if sum(found.values()) > 0.0 else None


def bare(token: str) -> str:
    """The token's word in lower case, without the quotes, spaces and marks around it."""
    return _DRESS.sub("", token).lower() if len(token) < 16 else ""
