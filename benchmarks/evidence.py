"""Labelled evidence as a check reads it: what a search finds, under title, headings and date, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.documents import Document

from factloop.setup.settings import CheckSettings
from factloop.tools.judges.found_pieces import FoundPieces, find_pieces
from factloop.tools.search.given import GivenDocuments

RESULTS = CheckSettings().results_per_search
_ABOUT = "(meta data) "
"""What a line of WiCE begins with that tells of the article."""
_DATE = 10
"""Characters of the day in a date."""


def found_for(claim: str, documents: Sequence[Document]) -> FoundPieces:
    """The pieces that a check would read of these documents for the claim."""
    return find_pieces(claim, GivenDocuments(documents), RESULTS)


def wice_article(lines: Sequence[str]) -> Document:
    """The cited article. What WiCE says of it stands in lines of their own, the title and the date among them."""
    about = dict(line.removeprefix(_ABOUT).split(": ", 1) for line in lines if line.startswith(_ABOUT))
    text = "\n".join(line for line in lines if not line.startswith(_ABOUT))
    said = {"title": about.get("TITLE"), "published": about.get("PUBLISHED DATETIME", "")[:_DATE]}
    return Document(text, metadata={name: value for name, value in said.items() if value})
