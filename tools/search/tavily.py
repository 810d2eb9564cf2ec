"""Web results through Tavily (https://tavily.com), by the package langchain-tavily. Costs one credit a query."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from pydantic import BaseModel, ValidationError

from factloop.tools.search.base import SearchHit
from factloop.tools.search.hosted import HostedSearch

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


class TavilySearch(HostedSearch):
    """Passages of pages that Tavily chose for the query, by its search of depth `basic`: one credit each."""

    package: ClassVar[str] = "langchain_tavily"
    key_variable: ClassVar[str] = "TAVILY_API_KEY"
    url_variable: ClassVar[str] = "FACTLOOP_TAVILY_URL"
    default_url: ClassVar[str] = "https://api.tavily.com"
    site: ClassVar[str] = "https://tavily.com"

    name: str = "tavily"
    description: str = "Search the web with Tavily."
    usd_per_query: float | None = 0.008

    @property
    def identity(self) -> str:
        return f"{super().identity} depth=basic"

    def _found(self, query: str, limit: int) -> list[SearchHit]:
        return self._hits(self._wrapper.raw_results(**_asked(query, limit)))

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        """As `search`, without a thread."""
        if not query.strip() or limit < 1:
            return []
        with self._failures():
            return self._hits(await self._wrapper.raw_results_async(**_asked(query, limit)))[:limit]

    @cached_property
    def _wrapper(self) -> Any:
        """What asks. The package's own tool would turn failures, and finding nothing, into texts."""
        self.require_package()
        from langchain_tavily import TavilySearch as Tool

        # As text: of a secret the package would send the stars that hide it.
        return Tool(tavily_api_key=self._key.get_secret_value(), api_base_url=self._url).api_wrapper

    def _hits(self, answer: Any) -> list[SearchHit]:
        try:
            results = _Results.model_validate(answer).results
        except ValidationError as error:
            raise self._misshapen(".".join(str(part) for part in error.errors()[0]["loc"])) from error
        return [
            SearchHit(source=item.url, title=item.title or "", passage=item.content, published=item.published_date)
            for item in results
            if item.content
        ]


def _asked(query: str, limit: int) -> dict[str, Any]:
    return {"query": query, "max_results": limit, "search_depth": "basic", **dict.fromkeys(_NOT_ASKED)}
