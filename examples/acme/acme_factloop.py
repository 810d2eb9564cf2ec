"""Acme's handbook as a search, a verifier of exact words, and Acme's quiz."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from factloop.evaluation.datasets.registry import Dataset, DatasetPart
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.pairs import Judge, PairScore, VerifierPair
from factloop.tools.search.base import SearchHit, SearchTool

HANDBOOK = {"opening": "The Acme works opened in Leeds in 1911.", "rope": "Acme makes rope and twine."}


class HandbookSearch(SearchTool):
    """The pages that share a word with the query."""

    name: str = "acme"
    description: str = "Search Acme's handbook."

    @classmethod
    def build(cls, *, timeout_s: float, replayed: bool) -> HandbookSearch:  # noqa: ARG003 - there is no server
        return cls()

    @property
    def identity(self) -> str:
        return "acme handbook 1.0"

    def search(self, query: str, limit: int) -> list[SearchHit]:
        words = set(query.casefold().split())
        found = [page for page, text in HANDBOOK.items() if words & set(text.casefold().rstrip(".").split())]
        return [SearchHit(source=f"handbook/{page}", passage=HANDBOOK[page]) for page in found[:limit]]


class Exact(Judge):
    """Supports a claim whose words stand in the document as they are."""

    name = "acme-exact"
    identity: ClassVar[dict[str, object]] = {"verifier": name, "version": 1}

    def __init__(self, target: str, *, allow_download: bool) -> None:
        """Takes nothing after its name, and fetches nothing."""

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002 - free
        return [PairScore(float(pair.claim.rstrip(".") in pair.document)) for pair in pairs]


QUIZ = Dataset(
    name="acme-quiz",
    title="Acme's quiz",
    about="what new colleagues answered",
    homepage="https://acme.test",
    licence="CC0",
    citation="Acme",
    parts=(DatasetPart(name="dev", files=(), own_file="quiz.jsonl", columns=()),),
)
