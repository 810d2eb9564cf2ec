"""Passages of Wikipedia articles, or of another MediaWiki's. Free; one request for each article read."""

from __future__ import annotations

import time
from importlib.metadata import version
from itertools import chain
from typing import Any

from pydantic import PrivateAttr

from factloop.core.errors import ConfigError
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool, textless
from factloop.tools.search.mediawiki import Article, MediaWiki
from factloop.tools.search.passages import PassageSettings, best_passages, split_passages
from factloop.tools.text.queries import looser_queries

_PASSAGES = PassageSettings(words=100)
"""Longer than of documents, since a passage comes without its neighbours."""
_LONGEST_QUERY = 300
"""Characters; MediaWiki's search refuses more."""
_MAX_ARTICLES = 10


class WikipediaSearch(SearchTool):
    """The encyclopaedia in one `language` (the code in its address), or the MediaWiki at `base_url`.

    The best articles are read whole, and their passages of about a hundred words compete. A wiki's search wants every
    word: where no article has them all, up to three queries of fewer words follow. `published` is the time of the
    article's last edit. Raises ConfigError where the language or the URL cannot be one.
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
    _wiki: MediaWiki = PrivateAttr()
    _url: str = PrivateAttr()

    @classmethod
    def build(
        cls,
        *,
        timeout_s: float,
        replayed: bool,  # noqa: ARG003  # it needs no key
        language: str = "en",
        url: str | None = None,
    ) -> WikipediaSearch:
        return cls(timeout_s=timeout_s, language=language, base_url=url)

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
        self._wiki = MediaWiki(self._client, self.name, self.timeout_s)

    @property
    def identity(self) -> str:
        return f"wikipedia {without_userinfo(self._url)}"

    def reach(self) -> None:
        self._client.reach(timeout_s=REACH_S)

    def server_facts(self) -> tuple[str, ...]:
        return self._wiki.facts(time.monotonic() + min(REACH_S, self.timeout_s))

    def search(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        pages = self._articles(query.strip()[:_LONGEST_QUERY], min(limit, _MAX_ARTICLES))
        found = [(page, passage) for page in pages for passage in split_passages(page.extract or "", _PASSAGES)]
        if pages and not found:
            raise textless(self.name)
        texts = [f"{page.title} {passage}" for page, passage in found]
        return [_hit(*found[index]) for index in best_passages(query, texts, limit)]

    def _articles(self, query: str, n_articles: int) -> list[Article]:
        """The articles of the first wording that finds any."""
        deadline = time.monotonic() + self.timeout_s
        for wording in chain([query], looser_queries(query)):
            if found := self._wiki.find(wording, n_articles, deadline):
                return found
        return []


def _hit(page: Article, passage: str) -> SearchHit:
    source = page.fullurl or f"wikipedia page {page.pageid}"
    return SearchHit(source=source, title=page.title, passage=passage, published=page.edited)
