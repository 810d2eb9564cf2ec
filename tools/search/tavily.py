"""Web results through Tavily (https://tavily.com), by the package langchain-tavily. Costs one credit a query.

The package makes the request. It would send it without a bound on time or length, follow redirects with the key, and
say the status of a refusal in words alone; and it has no place for a session. So what it makes is sent by a client of
ours: its own function runs with that in place of the module `requests`, which stays as it is for everyone else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, MethodType
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ValidationError

from factloop.core.errors import ConfigError, FactloopError, ToolError
from factloop.core.extras import require
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.search.base import SearchHit, textless
from factloop.tools.search.keyed import KeyedSearch, misshapen

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


@dataclass(frozen=True)
class _Answer:
    """The answer as the package looks at it: one of another status has been raised as an error."""

    value: dict[str, Any]
    status_code: int = 200

    def json(self) -> dict[str, Any]:
        return self.value


@dataclass(frozen=True)
class _Requests:
    """What the package finds under the name `requests`. Raises ToolError, ToolTimeout."""

    client: JsonClient
    base_url: str

    def post(self, url: str, *, json: Mapping[str, Any], headers: Mapping[str, str]) -> _Answer:
        return _Answer(self.client.post(url.removeprefix(self.base_url), json, headers=headers))


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
        try:
            answer = self._raw_results(**_asked(query, limit))
        except FactloopError:
            raise
        except Exception as error:  # the package may raise anything
            raise ToolError(f"{self.name}: langchain-tavily failed ({type(error).__name__})", tool=self.name) from error
        return self._hits(answer)[:limit]

    @cached_property
    def _raw_results(self) -> Callable[..., Any]:
        """Asks. The package's own tool would turn failures, and finding nothing, into texts."""
        _require_package()
        from langchain_tavily import TavilySearch as Tool

        # As text: of a secret the package would send the stars that hide it.
        wrapper = Tool(tavily_api_key=self._key.get_secret_value(), api_base_url=self._url).api_wrapper
        asks = type(wrapper).raw_results
        if not {"requests", "post"} <= set(asks.__code__.co_names):
            raise ConfigError(
                "this version of langchain-tavily asks in a way that factloop cannot bound: install 0.2.18"
            )
        names = {**asks.__globals__, "requests": _Requests(self._client, self._url)}
        bounded = FunctionType(asks.__code__, names, asks.__name__, asks.__defaults__, asks.__closure__)
        return MethodType(bounded, wrapper)

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


def _require_package() -> None:
    require("searches", "--search tavily", "langchain_tavily")


def _asked(query: str, limit: int) -> dict[str, Any]:
    return {"query": query, "max_results": limit, "search_depth": "basic", **dict.fromkeys(_NOT_ASKED)}
