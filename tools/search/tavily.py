"""Web results through Tavily (https://tavily.com). Costs one credit a query.

By Tavily's own HTTP interface: its LangChain package sends a request without a bound on time or length, and follows
redirects with the key.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from factloop.tools.search.base import SearchHit, with_text
from factloop.tools.search.keyed import KeyedSearch


class _Result(BaseModel):
    url: str
    title: str | None = None
    content: str | None = None
    published_date: str | None = None


class _Answer(BaseModel):
    results: list[_Result]


class TavilySearch(KeyedSearch):
    """Passages of pages that Tavily chose for the query, by its search of depth `basic`: one credit each.

    It gives each page with a passage. Where none has any, the search failed.
    """

    key_variable: ClassVar[str] = "TAVILY_API_KEY"
    url_variable: ClassVar[str] = "FACTLOOP_TAVILY_URL"
    default_url: ClassVar[str] = "https://api.tavily.com"
    site: ClassVar[str] = "https://tavily.com"
    key_header: ClassVar[str] = "Authorization"
    key_scheme: ClassVar[str] = "Bearer "

    name: str = "tavily"
    description: str = "Search the web with Tavily."
    usd_per_query: float | None = 0.008

    @property
    def identity(self) -> str:
        return f"{super().identity} depth=basic"

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Costs one query. An empty one asks nothing and finds nothing."""
        if not query.strip() or limit < 1:
            return []
        asked = {"query": query, "max_results": limit, "search_depth": "basic"}
        results = self._read(self._client.post("/search", asked), _Answer).results
        hits = [
            SearchHit(
                source=item.url, title=item.title or "", passage=item.content or "", published=item.published_date
            )
            for item in results
        ]
        return with_text(self.name, hits, limit)
