"""Labelled evidence as a check reads it: what a search finds, under title, headings and date, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.documents import Document

from factloop.agents.safe.offline import pieces_of
from factloop.setup.settings import CheckSettings
from factloop.tools.search.given import GivenDocuments

RESULTS = CheckSettings().results_per_search
_ABOUT = "(meta data) "
"""What a line of WiCE begins with that tells of the article."""
_DATE = 10
"""Characters of the day in a date."""


@dataclass(frozen=True)
class FoundPieces:
    """What the offline rater is given, as for `Verifier.verify`."""

    passages: tuple[str, ...]
    documents: tuple[int, ...]


def found_for(claim: str, documents: Sequence[Document]) -> FoundPieces:
    """The pieces of the passages that a search of the documents for the claim finds."""
    hits = GivenDocuments(documents).search(claim, RESULTS)
    numbers = {source: number for number, source in enumerate(dict.fromkeys(hit.source for hit in hits))}
    found = [(piece, numbers[hit.source]) for hit in hits for piece in pieces_of(hit.title, hit.passage)]
    return FoundPieces(tuple(piece for piece, _ in found), tuple(number for _, number in found))


def wice_article(lines: Sequence[str]) -> Document:
    """The cited article. What WiCE says of it stands in lines of their own, the title and the date among them."""
    about = dict(line.removeprefix(_ABOUT).split(": ", 1) for line in lines if line.startswith(_ABOUT))
    text = "\n".join(line for line in lines if not line.startswith(_ABOUT))
    said = {"title": about.get("TITLE"), "published": about.get("PUBLISHED DATETIME", "")[:_DATE]}
    return Document(text, metadata={name: value for name, value in said.items() if value})
