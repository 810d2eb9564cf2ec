"""The packaged baseline as a reader of pairs, and the pieces of documents that it was fitted on."""

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
"""Passages that are read for a claim, as a check has them by default."""
_KEPT = 64
"""Documents kept indexed: pairs about one document mostly stand together."""


@dataclass(frozen=True)
class FoundPieces:
    """What is read of the hits of a search, as `Verifier.verify` takes it."""

    passages: tuple[str, ...]
    documents: tuple[int, ...]
    """The number of each passage's document."""


def find_pieces(claim: str, documents: GivenDocuments, results: int) -> FoundPieces:
    """The pieces of the passages that a search of the documents for the claim finds first.

    Where it finds none, as of *mice* by *a mouse*, those of all passages, unless they are more than `FEW_CHARACTERS`.
    """
    hits = documents.search(claim, results) or documents.all_passages(FEW_CHARACTERS) or []
    numbers = {source: number for number, source in enumerate(dict.fromkeys(hit.source for hit in hits))}
    found = [(piece, numbers[hit.source]) for hit in hits for piece in pieces_of(hit.title, hit.section, hit.passage)]
    return FoundPieces(tuple(piece for piece, _ in found), tuple(number for _, number in found))


@lru_cache(maxsize=1_000)
def pieces_of(title: str, section: str | None, passage: str) -> tuple[str, ...]:
    """A passage's pieces, kept: many claims find the same passage. A heading stays apart from what it heads, be it that
    of the section in which the passage begins or of one within it."""
    whole = passage if section is None else f"{section}{PARAGRAPH}{passage}"
    pieces = split_passages(whole.replace(PARAGRAPH, PARAGRAPHS))
    return tuple(f"{title.rstrip('.')}.\n{piece}" if title else piece for piece in pieces)


class BaselineReader(Judge):
    """The packaged baseline as a `Judge`.

    It has no window. Of a document, or a chunk of it, it reads what a check would: the pieces that a search of it finds
    for the claim. Its weights were fitted on these.
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
    """It changes with whatever shapes a score."""
    return hashlib.sha256(files("factloop.tools.judges").joinpath(FILE_NAME).read_bytes()).hexdigest()
