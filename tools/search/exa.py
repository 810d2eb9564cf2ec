"""Web results through Exa (https://exa.ai). Costs money: one search a query.

By Exa's own HTTP interface: its package waits without end for a server that stalls, and a process then never exits.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, Field

from factloop.tools.search.base import SearchHit, with_text
from factloop.tools.search.keyed import KeyedSearch

LONGEST_TEXT = 1_500
"""Characters of a page's text that are asked for, beside the sentences that Exa picks."""
SEPARATOR = " … "


class _Page(BaseModel):
    url: str
    title: str | None = None
    text: str | None = None
    highlights: list[str] | None = None
    published_date: str | None = Field(default=None, alias="publishedDate")


class _Answer(BaseModel):
    results: list[_Page]


class ExaSearch(KeyedSearch):
    """The sentences of pages that Exa picked for the query; the beginning of the page where it picked none.

    A page of which it could fetch no text is passed over. Where that is all of them, the search failed: text was asked
    for.
    """

    key_variable: ClassVar[str] = "EXA_API_KEY"
    url_variable: ClassVar[str] = "FACTLOOP_EXA_URL"
    default_url: ClassVar[str] = "https://api.exa.ai"
    site: ClassVar[str] = "https://exa.ai"
    key_header: ClassVar[str] = "x-api-key"

    name: str = "exa"
    description: str = "Search the web with Exa, by meaning."
    usd_per_query: float | None = 0.01

    @property
    def identity(self) -> str:
        return f"{super().identity} highlights, text of {LONGEST_TEXT}"

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Costs one query. An empty one asks nothing and finds nothing."""
        if not query.strip() or limit < 1:
            return []
        wanted = {"highlights": True, "text": {"maxCharacters": LONGEST_TEXT}}
        asked = {"query": query, "numResults": limit, "contents": wanted}
        answer = self._read(self._client.post("/search", asked), _Answer)
        return with_text(self.name, [*map(_hit, answer.results)], limit)


def _hit(page: _Page) -> SearchHit:
    passage = SEPARATOR.join(text.strip() for text in page.highlights or ()) or (page.text or "")
    return SearchHit(source=page.url, title=page.title or "", passage=passage.strip(), published=page.published_date)
