"""Evidence as the offline rater was fitted on it: what a search of documents finds for a claim, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from factloop.tools.search.given import GivenDocuments
from factloop.tools.search.passages import PARAGRAPH, PARAGRAPHS, split_passages

FEW_CHARACTERS = 20_000


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
