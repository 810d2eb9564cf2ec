"""Applies the packaged baseline to pairs of claim and document, cut into pieces like those it was fitted on."""

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
"""Number of passages to read for a claim, the same as a check's default."""
_KEPT = 64
"""Number of documents to keep indexed; few, because pairs for one document are usually next to each other."""


@dataclass(frozen=True)
class FoundPieces:
    """The pieces to read from search hits, in the form that `Verifier.verify` takes."""

    passages: tuple[str, ...]
    documents: tuple[int, ...]
    """The number of each passage's document."""


def find_pieces(claim: str, documents: GivenDocuments, results: int) -> FoundPieces:
    """The pieces of the first passages found by searching the documents for the claim.

    If none are found, as with *mice* for *a mouse*, the pieces of all passages unless they exceed `FEW_CHARACTERS`.
    """
    hits = documents.search(claim, results) or documents.all_passages(FEW_CHARACTERS) or []
    numbers = {source: number for number, source in enumerate(dict.fromkeys(hit.source for hit in hits))}
    found = [(piece, numbers[hit.source]) for hit in hits for piece in pieces_of(hit.title, hit.section, hit.passage)]
    return FoundPieces(tuple(piece for piece, _ in found), tuple(number for _, number in found))


@lru_cache(maxsize=1_000)
def pieces_of(title: str, section: str | None, passage: str) -> tuple[str, ...]:
    """A passage's pieces, cached because many claims find the same passage. A heading is kept separate from its text,
    both the heading of the passage's section and headings within it."""
    whole = passage if section is None else f"{section}{PARAGRAPH}{passage}"
    pieces = split_passages(whole.replace(PARAGRAPH, PARAGRAPHS))
    return tuple(f"{title.rstrip('.')}.\n{piece}" if title else piece for piece in pieces)


class BaselineReader(Judge):
    """The packaged baseline as a `Judge`.

    It has no window. From a document, or a chunk of it, it reads what a check would read: the pieces that a search for
    the claim finds. Its weights were fitted on such pieces.
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
    """A hash that changes with anything that affects a score."""
    return hashlib.sha256(files("factloop.tools.judges").joinpath(FILE_NAME).read_bytes()).hexdigest()
