"""The lexical baseline as a reader of pairs."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from langchain_core.documents import Document

from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.given import GivenDocuments
from factloop.tools.verifiers.chunks import cut_by_words
from factloop.tools.verifiers.coefficients import FILE_NAME
from factloop.tools.verifiers.found_pieces import find_pieces
from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.pairs import PairScore, VerifierPair

RESULTS = 3
"""Passages that are read for a claim, as a check has them by default."""
_KEPT = 64
"""Documents kept indexed: pairs about one document mostly stand together."""


class LexicalReader:
    """The lexical baseline as a `PairReader`.

    It has no window. Of a document, or a chunk of it, it reads what a check would: the pieces that a search of it finds
    for the claim. Its weights were fitted on these.
    """

    def __init__(self, verifier: LexicalVerifier) -> None:
        self._verifier = verifier
        self._indexed = lru_cache(maxsize=_KEPT)(_indexed)

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
        return [PairScore(self._score(pair)) for pair in pairs]

    def _score(self, pair: VerifierPair) -> float:
        found = find_pieces(pair.claim, self._indexed(pair.document), RESULTS)
        return self._verifier.verify(pair.claim, found.passages, found.documents).score


def _indexed(document: str) -> GivenDocuments:
    return GivenDocuments([Document(document)])
