"""Web results of Brave (https://brave.com/search/api). Costs money: one query a call.

By Brave's own HTTP interface: the only LangChain package that has it, langchain-community, is being given up, and drops
the dates of pages.
"""

from __future__ import annotations

import html
import os
import re
from typing import Any

from pydantic import BaseModel, PrivateAttr, SecretStr, ValidationError

from factloop.core.errors import ToolError
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool
from factloop.tools.search.keys import key_of

DEFAULT_URL = "https://api.search.brave.com"
KEY_VARIABLE = "BRAVE_SEARCH_API_KEY"
URL_VARIABLE = "FACTLOOP_BRAVE_URL"
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
    """Always there, be there pages or not."""
    web: _Web = _Web()


class BraveSearch(SearchTool):
    """Brave's index of the web. The key comes from `api_key` or the environment variable `BRAVE_SEARCH_API_KEY`.

    Construction raises ConfigError if the key is missing or the URL is invalid.
    """

    name: str = "brave"
    description: str = "Search the web with Brave."
    usd_per_query: float | None = 0.005
    api_key: SecretStr | None = None
    base_url: str | None = None
    timeout_s: float = 20.0

    _client: JsonClient = PrivateAttr()
    _url: str = PrivateAttr()

    @classmethod
    def build(cls, *, timeout_s: float, replayed: bool) -> BraveSearch:
        return cls(timeout_s=timeout_s, api_key=SecretStr("none") if replayed else None)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        key = key_of(self.name, self.api_key, KEY_VARIABLE, "https://brave.com/search/api")
        self._url = checked_base_url(self.base_url or os.environ.get(URL_VARIABLE) or DEFAULT_URL, URL_VARIABLE)
        refused = f"the key in {KEY_VARIABLE} was refused"
        self._client = JsonClient(
            tool=self.name,
            base_url=self._url,
            timeout_s=self.timeout_s,
            secret_headers={"X-Subscription-Token": key},
            hints={401: refused, 403: refused},
        )

    @property
    def identity(self) -> str:
        return f"brave {without_userinfo(self._url)}"

    @property
    def recorded_as(self) -> str:
        return "brave"

    def reach(self) -> None:
        """Sees that the server answers. Whether it takes the key shows with the first query, which costs."""
        self._client.reach(timeout_s=REACH_S)

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Costs one query. An empty one asks nothing and finds nothing; a long one is cut to what Brave takes."""
        if not query.strip() or limit < 1:
            return []
        asked = " ".join(query.split()[:MOST_WORDS])[:LONGEST_QUERY]
        params: dict[str, str | int] = {"q": asked, "count": min(limit, MOST_HITS), "extra_snippets": "true"}
        try:
            answer = _Answer.model_validate(self._client.get("/res/v1/web/search", params))
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise ToolError(
                f"brave: the answer has another shape than search results have (at {where!r})", tool=self.name
            ) from error
        return [hit for hit in map(_hit, answer.web.results) if hit.passage][:limit]


def _hit(page: _Page) -> SearchHit:
    passage = " ".join(_plain(text) for text in (page.description or "", *page.extra_snippets))
    return SearchHit(source=page.url, title=_plain(page.title or ""), passage=passage.strip(), published=page.page_age)


def _plain(text: str) -> str:
    """Brave marks the words of the query, and escapes what HTML would read."""
    return html.unescape(_EMPHASIS.sub("", text))
