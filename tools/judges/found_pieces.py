"""Applies the packaged baseline to claims and documents. Documents are read in pieces, as in its training data."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from langchain_core.documents import Document

from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.baseline import FILE_NAME, Baseline
from factloop.tools.judges.pairs import Judge, PairScore, VerifierPair
from factloop.tools.search.given import GivenDocuments
from factloop.tools.search.passages import PARAGRAPH, PARAGRAPHS, split_passages

FEW_CHARACTERS = 20_000
RESULTS = 3
"""Number of passages to read for a claim, the same as the default in a check."""
_KEPT = 64


@dataclass(frozen=True)
class FoundPieces:
    passages: tuple[str, ...]
    documents: tuple[int, ...]


def find_pieces(claim: str, documents: GivenDocuments, results: int) -> FoundPieces:
    """Searches the documents for the claim and returns the pieces of the best passages.

    If the search finds nothing, for example because *mice* does not match *a mouse*, all passages are used unless they
    contain more than `FEW_CHARACTERS` characters.
    """
    hits = documents.search(claim, results) or documents.all_passages(FEW_CHARACTERS) or []
    numbers = {source: number for number, source in enumerate(dict.fromkeys(hit.source for hit in hits))}
    found = [(piece, numbers[hit.source]) for hit in hits for piece in pieces_of(hit.title, hit.section, hit.passage)]
    return FoundPieces(tuple(piece for piece, _ in found), tuple(number for _, number in found))


@lru_cache(maxsize=1_000)
def pieces_of(title: str, section: str | None, passage: str) -> tuple[str, ...]:
    whole = passage if section is None else f"{section}{PARAGRAPH}{passage}"
    pieces = split_passages(whole.replace(PARAGRAPH, PARAGRAPHS))
    return tuple(f"{title.rstrip('.')}.\n{piece}" if title else piece for piece in pieces)


class BaselineReader(Judge):
    """The packaged baseline as a `Judge`, for documents of any length.

    Like a check, it searches a document for the claim and reads only the pieces that the search finds.
    """

    def __init__(self, verifier: Baseline) -> None:
        self._verifier = verifier
        self._indexed = lru_cache(maxsize=_KEPT)(lambda document: GivenDocuments([Document(document)]))

    @property
    def name(self) -> str:
        return self._verifier.name

    @property
    def identity(self) -> dict[str, object]:
        return {"verifier": self.name, "weights": _weights_sha256()}

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002 - nothing is paid
        return await asyncio.to_thread(self._read, pairs)

    def _read(self, pairs: Sequence[VerifierPair]) -> list[PairScore]:
        return [PairScore(self._score(pair)) for pair in pairs]

    def _score(self, pair: VerifierPair) -> float:
        found = find_pieces(pair.claim, self._indexed(pair.document), RESULTS)
        return self._verifier.verify(pair.claim, found.passages, found.documents).score


@cache
def _weights_sha256() -> str:
    return hashlib.sha256(files("factloop.tools.judges").joinpath(FILE_NAME).read_bytes()).hexdigest()
