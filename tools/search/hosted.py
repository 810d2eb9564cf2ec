"""Searches over HTTP with an API key: Tavily, Exa and Brave. Every query costs money.

The providers' LangChain packages are not used. Tavily's does not limit time or length, and forwards the key when it
follows redirects. Exa's waits forever for a server that stalls. Brave's is deprecated and drops dates.
"""

from __future__ import annotations

import html
import os
import re
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, SecretStr, ValidationError

from factloop.core.errors import ConfigError, ToolError
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool, with_text

T = TypeVar("T", bound=BaseModel)


class KeyedSearch(SearchTool):
    """Base class for hosted searches. The key comes from `api_key` or from the provider's environment variable.

    Pages without text are skipped. If no page contains text, the search fails, because we do not know what the pages
    say. The constructor raises ConfigError if the key is missing or the URL is invalid.
    """

    key_variable: ClassVar[str]
    url_variable: ClassVar[str]
    default_url: ClassVar[str]
    site: ClassVar[str]
    key_header: ClassVar[str]
    key_scheme: ClassVar[str] = ""

    api_key: SecretStr | None = None
    base_url: str | None = None
    timeout_s: float = 20.0

    _client: JsonClient = PrivateAttr()
    _url: str = PrivateAttr()

    @classmethod
    def build(cls, *, timeout_s: float, replayed: bool) -> Self:
        return cls.model_validate({"timeout_s": timeout_s, "api_key": "none" if replayed else None})

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        url = self.base_url or os.environ.get(self.url_variable) or self.default_url
        self._url = checked_base_url(url, self.url_variable)
        refused = f"the key in {self.key_variable} was rejected"
        self._client = JsonClient(
            tool=self.name,
            base_url=self._url,
            timeout_s=self.timeout_s,
            secret_headers={self.key_header: self.key_scheme + self._key()},
            hints={401: refused, 403: refused},
        )

    def _key(self) -> str:
        key = self.api_key.get_secret_value() if self.api_key else os.environ.get(self.key_variable, "")
        if not key.strip():
            raise ConfigError(f"{self.name} needs a key; set {self.key_variable} (get a key at {self.site})")
        if not (key.isascii() and key.strip().isprintable()):
            raise ConfigError(
                f"the key in {self.key_variable} contains characters not allowed in HTTP headers; check the key"
            )
        return key.strip()

    @property
    def identity(self) -> str:
        return f"{self.name} {without_userinfo(self._url)}"

    @property
    def recorded_as(self) -> str:
        return self.name

    def reach(self) -> None:
        """Checks that the server responds. Only a query, which costs money, would show whether the key is valid."""
        self._client.reach(timeout_s=REACH_S)

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Costs one query. Blank queries are not sent and return no hits."""
        if not query.strip() or limit < 1:
            return []
        return with_text(self.name, list(self._found(query, limit)), limit)

    @abstractmethod
    def _found(self, query: str, limit: int) -> Iterable[SearchHit]: ...

    def _read(self, answer: dict[str, Any], shape: type[T]) -> T:
        try:
            return shape.model_validate(answer)
        except ValidationError as error:
            raise misshapen(self.name, error) from error


def misshapen(name: str, error: ValidationError) -> ToolError:
    where = ".".join(str(part) for part in error.errors()[0]["loc"])
    said = f"the answer does not look like search results (at {where!r})"
    return ToolError(f"{name}: {said}", tool=name, status=200)


class _TavilyPage(BaseModel):
    url: str
    title: str | None = None
    content: str | None = None
    published_date: str | None = None


class _TavilyResults(BaseModel):
    results: list[_TavilyPage]


class TavilySearch(KeyedSearch):
    """Finds passages of web pages through Tavily (https://tavily.com), with the `basic` search depth."""

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

    def _found(self, query: str, limit: int) -> Iterable[SearchHit]:
        asked = {"query": query, "max_results": limit, "search_depth": "basic"}
        for page in self._read(self._client.post("/search", asked), _TavilyResults).results:
            passage = page.content or ""
            yield SearchHit(source=page.url, title=page.title or "", passage=passage, published=page.published_date)


LONGEST_EXA_TEXT = 1_500
"""Maximum number of characters to request from a page, in addition to the sentences that Exa selects."""


class _ExaPage(BaseModel):
    url: str
    title: str | None = None
    text: str | None = None
    highlights: list[str] | None = None
    published_date: str | None = Field(default=None, alias="publishedDate")


class _ExaResults(BaseModel):
    results: list[_ExaPage]


class ExaSearch(KeyedSearch):
    """Finds sentences of web pages through Exa (https://exa.ai), or the start of a page if Exa selects no sentences."""

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
        return f"{super().identity} highlights, text of {LONGEST_EXA_TEXT}"

    def _found(self, query: str, limit: int) -> Iterable[SearchHit]:
        wanted = {"highlights": True, "text": {"maxCharacters": LONGEST_EXA_TEXT}}
        asked = {"query": query, "numResults": limit, "contents": wanted}
        for page in self._read(self._client.post("/search", asked), _ExaResults).results:
            passage = (" … ".join(text.strip() for text in page.highlights or ()) or page.text or "").strip()
            yield SearchHit(source=page.url, title=page.title or "", passage=passage, published=page.published_date)


MOST_OF_BRAVE = 20
LONGEST_TO_BRAVE, MOST_WORDS_TO_BRAVE = 400, 50
_EMPHASIS = re.compile(r"</?strong>")


class _BravePage(BaseModel):
    url: str
    title: str | None = None
    description: str | None = None
    extra_snippets: list[str] = []
    page_age: str | None = None


class _BraveWeb(BaseModel):
    results: list[_BravePage] = []


class _BraveResults(BaseModel):
    query: dict[str, Any]
    web: _BraveWeb = _BraveWeb()


class BraveSearch(KeyedSearch):
    """Searches Brave's web index (https://brave.com/search/api). Long queries are shortened to Brave's limits."""

    key_variable: ClassVar[str] = "BRAVE_SEARCH_API_KEY"
    url_variable: ClassVar[str] = "FACTLOOP_BRAVE_URL"
    default_url: ClassVar[str] = "https://api.search.brave.com"
    site: ClassVar[str] = "https://brave.com/search/api"
    key_header: ClassVar[str] = "X-Subscription-Token"

    name: str = "brave"
    description: str = "Search the web with Brave."
    usd_per_query: float | None = 0.005

    def _found(self, query: str, limit: int) -> Iterable[SearchHit]:
        asked = " ".join(query.split()[:MOST_WORDS_TO_BRAVE])[:LONGEST_TO_BRAVE]
        params: dict[str, str | int] = {"q": asked, "count": min(limit, MOST_OF_BRAVE), "extra_snippets": "true"}
        for page in self._read(self._client.get("/res/v1/web/search", params), _BraveResults).web.results:
            passage = " ".join(map(_plain, (page.description or "", *page.extra_snippets))).strip()
            title = _plain(page.title or "")
            yield SearchHit(source=page.url, title=title, passage=passage, published=page.page_age)


def _plain(text: str) -> str:
    return html.unescape(_EMPHASIS.sub("", text))
