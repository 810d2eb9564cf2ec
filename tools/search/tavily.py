"""Web results through Tavily (https://tavily.com), by the package langchain-tavily. Costs one credit a query.

The package says the status of a refusal in words alone, and in some ways of asking hands a failure over as a result. So
it is asked in the way that raises, and what it raises is read for that status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, Self

import aiohttp
import requests
from pydantic import BaseModel, ValidationError

from factloop.core.errors import FactloopError, ToolError, ToolTimeout
from factloop.core.extras import require
from factloop.tools.calls.retry import TOO_MANY_REQUESTS
from factloop.tools.calls.urls import without_userinfo
from factloop.tools.search.base import SearchHit, textless
from factloop.tools.search.keyed import KeyedSearch, misshapen

_STATUS = re.compile(r"\b(?:[Ee]rror|status code) (?P<status>[45]\d\d)\b")
_RETRYABLE = frozenset({408, TOO_MANY_REQUESTS})
_KEY_REFUSED = frozenset({401, 403})
_UNREACHABLE = (requests.ConnectionError, aiohttp.ClientConnectionError)
_NOT_ASKED = (
    "include_domains", "exclude_domains", "include_answer", "include_raw_content", "include_images",
    "include_image_descriptions", "include_favicon", "topic", "time_range", "country", "auto_parameters", "start_date",
    "end_date", "include_usage", "exact_match",
)  # fmt: skip
"""Parameters that the package wants named, and leaves out of the request where they are None."""


class _Result(BaseModel):
    url: str
    title: str | None = None
    content: str | None = None
    published_date: str | None = None


class _Results(BaseModel):
    results: list[_Result]


class TavilySearch(KeyedSearch):
    """Passages of pages that Tavily chose for the query, by its search of depth `basic`: one credit each.

    It gives each page with a passage. Where none has any, the search failed.

    `build`, and each search, raise MissingExtra without the extra `searches`.
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

    @classmethod
    def build(cls, *, timeout_s: float, replayed: bool) -> Self:
        if not replayed:
            _require_package()
        return super().build(timeout_s=timeout_s, replayed=replayed)

    @property
    def identity(self) -> str:
        return f"{super().identity} depth=basic"

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Costs one query. An empty one asks nothing and finds nothing."""
        if not query.strip() or limit < 1:
            return []
        with self._failures():
            return self._hits(self._wrapper.raw_results(**_asked(query, limit)))[:limit]

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        """As `search`, without a thread."""
        if not query.strip() or limit < 1:
            return []
        with self._failures():
            return self._hits(await self._wrapper.raw_results_async(**_asked(query, limit)))[:limit]

    @cached_property
    def _wrapper(self) -> Any:
        """What asks. The package's own tool would turn failures, and finding nothing, into texts."""
        _require_package()
        from langchain_tavily import TavilySearch as Tool

        # As text: of a secret the package would send the stars that hide it.
        return Tool(tavily_api_key=self._key.get_secret_value(), api_base_url=self._url).api_wrapper

    def _hits(self, answer: Any) -> list[SearchHit]:
        try:
            results = _Results.model_validate(answer).results
        except ValidationError as error:
            raise misshapen(self.name, error) from error
        hits = [
            SearchHit(source=item.url, title=item.title or "", passage=item.content, published=item.published_date)
            for item in results
            if item.content and item.content.strip()
        ]
        if results and not hits:
            raise textless(self.name)
        return hits

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Raises ToolError for what the package raises inside."""
        try:
            yield
        except FactloopError:
            raise
        except Exception as error:  # the package raises plain Exception and ValueError
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> ToolError:
        """What the package raised, by status and kind; of its words nothing else is looked at, or shown."""
        if isinstance(error, requests.Timeout | TimeoutError):
            return ToolTimeout(tool=self.name, timeout_s=self.timeout_s)
        found = _STATUS.search(str(error))
        if found is None:
            is_gone = isinstance(error, _UNREACHABLE)
            said = f"no connection to {without_userinfo(self._url)}" if is_gone else f"failed ({type(error).__name__})"
            return ToolError(f"{self.name}: {said}", tool=self.name, retryable=is_gone)
        status = int(found["status"])
        hint = f": the key in {self.key_variable} was refused" if status in _KEY_REFUSED else ""
        return ToolError(
            f"{self.name}: status {status}{hint}",
            tool=self.name,
            status=status,
            retryable=status >= 500 or status in _RETRYABLE,
        )


def _require_package() -> None:
    require("searches", "--search tavily", "langchain_tavily")


def _asked(query: str, limit: int) -> dict[str, Any]:
    return {"query": query, "max_results": limit, "search_depth": "basic", **dict.fromkeys(_NOT_ASKED)}
