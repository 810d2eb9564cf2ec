"""Searches Google through Serper (https://serper.dev). Every search costs money."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self
from urllib.parse import quote_plus

from pydantic import BaseModel, Field, model_validator

from factloop.core.errors import ToolError
from factloop.tools.search.base import REACH_S, SearchHit
from factloop.tools.search.hosted import KeyedSearch

_NO_QUERY = frozenset({400, 422})


class _AnswerBox(BaseModel):
    title: str | None = None
    answer: str | None = None
    snippet: str | None = None
    link: str | None = None
    date: str | None = None


class _KnowledgeGraph(BaseModel):
    title: str | None = None
    type: str | None = None
    description: str | None = None
    description_link: str | None = Field(default=None, alias="descriptionLink")
    website: str | None = None
    attributes: dict[str, Any] = {}


class _Organic(BaseModel):
    title: str | None = None
    link: str
    snippet: str | None = None
    date: str | None = None


class _SerperResults(BaseModel):
    answer_box: _AnswerBox | None = Field(default=None, alias="answerBox")
    knowledge_graph: _KnowledgeGraph | None = Field(default=None, alias="knowledgeGraph")
    organic: list[_Organic] = []

    @model_validator(mode="after")
    def _is_an_answer(self) -> Self:
        """Serper always returns a list of pages, even if it is empty."""
        if not self.model_fields_set:
            raise ValueError("the answer must contain answerBox, knowledgeGraph or organic")
        return self


class SerperSearch(KeyedSearch):
    """Searches Google through Serper's API.

    `num` is the number of results to request, by default the number that the caller asks for. `gl` (country) and `hl`
    (language) are Google's parameters. Text from panels is treated like text from pages.
    """

    key_variable: ClassVar[str] = "SERPER_API_KEY"
    url_variable: ClassVar[str] = "FACTLOOP_SERPER_URL"
    default_url: ClassVar[str] = "https://google.serper.dev"
    site: ClassVar[str] = "https://serper.dev"
    key_header: ClassVar[str] = "X-API-KEY"

    name: str = "serper"
    description: str = "Search the web with Google."
    usd_per_query: float | None = 0.001
    gl: str | None = None
    hl: str | None = None
    num: int | None = None

    @property
    def identity(self) -> str:
        return f"{super().identity} gl={self.gl} hl={self.hl} num={self.num}"

    @property
    def recorded_as(self) -> str:
        return f"{super().recorded_as} gl={self.gl} hl={self.hl} num={self.num}"

    def reach(self) -> None:
        """Sends an empty query, which Serper rejects with a status that shows whether the key is valid.

        We assume that Serper checks the key first (401 or 403), rejects a request without a query (400), and charges
        for neither. No test can verify this.
        """
        try:
            self._client.post("/search", {}, timeout_s=REACH_S)
        except ToolError as error:
            if error.status not in _NO_QUERY:
                raise

    def _found(self, query: str, limit: int) -> Iterator[SearchHit]:
        asked = {"q": query, "num": self.num or limit, "gl": self.gl, "hl": self.hl}
        payload = {name: value for name, value in asked.items() if value is not None}
        results = self._read(self._client.post("/search", payload), _SerperResults)
        return _hits(results, query)


def _hits(results: _SerperResults, query: str) -> Iterator[SearchHit]:
    """Yields the direct answer, the knowledge panel, then pages. A panel without a URL gets the query's URL."""
    page = f"https://www.google.com/search?q={quote_plus(query)}"
    box, graph = results.answer_box, results.knowledge_graph
    if box and (passage := _joined(box.answer, box.snippet)):
        yield SearchHit(source=box.link or page, title=box.title or "", passage=passage, published=box.date)
    if graph:
        facts = (f"{name}: {value}." for name, value in graph.attributes.items())
        if passage := _joined(graph.description, *facts):
            title = f"{graph.title or ''} ({graph.type})" if graph.type else graph.title or ""
            yield SearchHit(source=graph.description_link or graph.website or page, title=title, passage=passage)
    for item in results.organic:
        yield SearchHit(source=item.link, title=item.title or "", passage=item.snippet or "", published=item.date)


def _joined(*parts: str | None) -> str:
    return " ".join(part.strip() for part in parts if part and part.strip())
