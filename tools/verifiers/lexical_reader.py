"""Any `Verifier` as a reader of pairs; above all the lexical baseline."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from factloop.tools.calls.meter import UsageMeter
from factloop.tools.verifiers.chunks import cut_by_words
from factloop.tools.verifiers.coefficients import FILE_NAME
from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.pairs import PairScore, VerifierPair


class LexicalReader:
    """The lexical baseline as a `PairReader`. It has no window: documents are whole unless the caller wishes else."""

    def __init__(self, verifier: LexicalVerifier) -> None:
        self._verifier = verifier

    @property
    def name(self) -> str:
        return self._verifier.name

    @property
    def identity(self) -> dict[str, object]:
        weights = files("factloop.tools.verifiers").joinpath(FILE_NAME).read_bytes()
        return {"verifier": self.name, "weights": hashlib.sha256(weights).hexdigest()}

    def parts(self, claim: str) -> Sequence[str]:
        return (claim,)

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:  # noqa: ARG002 - all claims fit
        return [document] if n_words is None else cut_by_words(document, n_words)

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002 - nothing is paid
        return await asyncio.to_thread(self._read, pairs)

    def _read(self, pairs: Sequence[VerifierPair]) -> list[PairScore]:
        return [PairScore(self._verifier.verify(pair.claim, [pair.document]).score) for pair in pairs]
