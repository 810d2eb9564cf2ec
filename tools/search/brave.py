"""Web results of Brave (https://brave.com/search/api). Costs money: one query a call.

By Brave's own HTTP interface: the only LangChain package that has it, langchain-community, is deprecated, and drops the
dates of pages.
"""

from __future__ import annotations

import html
import re
from typing import Any, ClassVar

from pydantic import BaseModel

from factloop.tools.search.base import SearchHit, with_text
from factloop.tools.search.keyed import KeyedSearch

MOST_HITS = 20
"""Results of one query at most, as Brave allows."""
LONGEST_QUERY = 400
MOST_WORDS = 50
_EMPHASIS = re.compile(r"</?strong>")


class _Page(BaseModel):
    url: str
    title: str | None = None
    description: str | None = None
    extra_snippets: list[str] = []
    page_age: str | None = None


class _Web(BaseModel):
    results: list[_Page] = []


class _Answer(BaseModel):
    query: dict[str, Any]
    """Present whether or not pages were found."""
    web: _Web = _Web()


class BraveSearch(KeyedSearch):
    """Brave's index of the web.

    A page may come without a description, and is passed over. Where all do, the search failed: that pages were found
    is known, and what they say is not.
    """

    key_variable: ClassVar[str] = "BRAVE_SEARCH_API_KEY"
    url_variable: ClassVar[str] = "FACTLOOP_BRAVE_URL"
    default_url: ClassVar[str] = "https://api.search.brave.com"
    site: ClassVar[str] = "https://brave.com/search/api"
    key_header: ClassVar[str] = "X-Subscription-Token"

    name: str = "brave"
    description: str = "Search the web with Brave."
    usd_per_query: float | None = 0.005

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Costs one query. An empty one asks nothing and finds nothing; a long one is cut to what Brave takes."""
        if not query.strip() or limit < 1:
            return []
        asked = " ".join(query.split()[:MOST_WORDS])[:LONGEST_QUERY]
        params: dict[str, str | int] = {"q": asked, "count": min(limit, MOST_HITS), "extra_snippets": "true"}
        answer = self._read(self._client.get("/res/v1/web/search", params), _Answer)
        return with_text(self.name, [*map(_hit, answer.web.results)], limit)


def _hit(page: _Page) -> SearchHit:
    passage = " ".join(_plain(text) for text in (page.description or "", *page.extra_snippets))
    return SearchHit(source=page.url, title=_plain(page.title or ""), passage=passage.strip(), published=page.page_age)


def _plain(text: str) -> str:
    """Brave marks the words of the query, and escapes what HTML would read."""
    return html.unescape(_EMPHASIS.sub("", text))
