"""Passages of Wikipedia articles through the MediaWiki API. Free; one request for each article read."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, PrivateAttr, ValidationError

from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool
from factloop.tools.search.passages import PassageSettings, best_passages, split_passages

_PASSAGES = PassageSettings(words=100)
"""Longer than of documents, since a passage comes without its neighbours."""
_LONGEST_QUERY = 300
"""Characters; MediaWiki's search refuses more."""
_MAX_ARTICLES = 10
_RETRYABLE_CODES = frozenset({"ratelimited", "maxlag", "readonly", "internal_api_error_DBQueryError"})


class _Revision(BaseModel):
    timestamp: str | None = None


class _WikipediaPage(BaseModel):
    pageid: int
    title: str
    index: int = 0
    fullurl: str = ""
    extract: str = ""
    revisions: list[_Revision] = []


class WikipediaSearch(SearchTool):
    """The encyclopaedia in one `language` (the code in its address), or the MediaWiki at `base_url`.

    The best articles are read whole, and their passages of about a hundred words compete. `published` is the time of
    the article's last edit. Raises ConfigError where the language or the URL cannot be one.
    """

    name: str = "wikipedia"
    description: str = "Search Wikipedia. Gives passages of articles; best asked for a name, a place, an event, a work."
    usd_per_query: float | None = 0.0
    language: str = "en"
    base_url: str | None = None
    """Address of the folder that holds `api.php`, such as https://en.wikipedia.org/w"""
    timeout_s: float = 20.0
    """Seconds for the whole search, all its requests together."""

    _client: JsonClient = PrivateAttr()
    _url: str = PrivateAttr()

    @classmethod
    def build(cls, *, timeout_s: float, replayed: bool) -> WikipediaSearch:  # noqa: ARG003  # it needs no key
        return cls(timeout_s=timeout_s)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        if not self.language.replace("-", "").isalnum() or not self.language.isascii():
            raise ConfigError(f"wikipedia: {self.language!r} is not a language code such as en or pt-br")
        url = self.base_url or f"https://{self.language}.wikipedia.org/w"
        self._url = checked_base_url(url, "base_url of wikipedia")
        agent = f"factloop/{version('factloop')} (fact-checking library) python-requests/{version('requests')}"
        self._client = JsonClient(
            tool=self.name, base_url=self._url, timeout_s=self.timeout_s, headers={"User-Agent": agent}
        )

    @property
    def identity(self) -> str:
        return f"wikipedia {without_userinfo(self._url)}"

    def reach(self) -> None:
        self._client.reach(timeout_s=REACH_S)

    def search(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        pages = self._pages(query.strip()[:_LONGEST_QUERY], min(limit, _MAX_ARTICLES))
        found = [(page, passage) for page in pages for passage in split_passages(page.extract, _PASSAGES)]
        texts = [f"{page.title} {passage}" for page, passage in found]
        return [_hit(*found[index]) for index in best_passages(query, texts, limit)]

    def _pages(self, query: str, n_articles: int) -> list[_WikipediaPage]:
        """Articles in the order of the search. The API gives one whole text a request: the rest are continuations."""
        params: dict[str, str | int] = {
            "action": "query",
            "format": "json",
            "formatversion": 2,
            "generator": "search",
            "gsrsearch": query,
            "gsrlimit": n_articles,
            "prop": "extracts|info|revisions",
            "explaintext": 1,
            "exsectionformat": "plain",
            "exlimit": 1,
            "inprop": "url",
            "rvprop": "timestamp",
        }
        deadline = time.monotonic() + self.timeout_s
        pages: dict[int, _WikipediaPage] = {}
        carry_on: dict[str, str | int] = {}
        for _ in range(n_articles):
            if time.monotonic() > deadline:
                raise ToolTimeout(tool=self.name, timeout_s=self.timeout_s)
            answer = self._client.get("/api.php", params | carry_on)
            for page in self._read_pages(answer):
                known = pages.get(page.pageid, page)  # each continuation repeats the pages and adds what it brings
                pages[page.pageid] = _WikipediaPage.model_validate(
                    known.model_dump() | page.model_dump(exclude_unset=True)
                )
            following = answer.get("continue")
            if not isinstance(following, dict) or "excontinue" not in following:
                break
            carry_on = following
        return sorted(pages.values(), key=lambda page: page.index)

    def _read_pages(self, answer: dict[str, Any]) -> list[_WikipediaPage]:
        """The pages of one answer; none where the search found nothing."""
        error = answer.get("error")
        if isinstance(error, dict):
            code = str(error.get("code"))[:100]
            raise ToolError(f"wikipedia: error {code!r}", tool=self.name, retryable=code in _RETRYABLE_CODES)
        if "query" not in answer and "batchcomplete" in answer:
            return []
        try:
            return [_WikipediaPage.model_validate(page) for page in answer["query"]["pages"]]
        except (KeyError, TypeError, ValidationError) as problem:
            raise ToolError(
                "wikipedia: the answer has another shape than MediaWiki's (query.pages)", tool=self.name
            ) from problem


def _hit(page: _WikipediaPage, passage: str) -> SearchHit:
    edited = page.revisions[0].timestamp if page.revisions else None
    source = page.fullurl or f"wikipedia page {page.pageid}"
    return SearchHit(source=source, title=page.title, passage=passage, published=edited)
