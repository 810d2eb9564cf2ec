"""Searches with the user's own SearXNG server, free of charge."""

from __future__ import annotations

import os
from typing import Any

from pydantic import BaseModel, Field, PrivateAttr, ValidationError

from factloop.core.errors import ConfigError, ToolError
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool, with_text
from factloop.tools.search.hosted import misshapen

URL_VARIABLE = "FACTLOOP_SEARXNG_URL"
_NOWHERE = "http://replayed.invalid"
_NO_JSON = "the server's JSON format is probably disabled; add `json` to `search.formats` in its settings.yml"


class _SearxngResult(BaseModel):
    url: str
    title: str | None = None
    content: str | None = None
    published: str | None = Field(default=None, alias="publishedDate")


class _SearxngResults(BaseModel):
    results: list[_SearxngResult]
    unresponsive_engines: list[Any] = []


class SearxngSearch(SearchTool):
    """Searches a SearXNG server at `base_url`, or at `FACTLOOP_SEARXNG_URL`. Raises ConfigError if neither is set.

    `language` is a code that the server knows, such as "en" or "all".
    """

    name: str = "searxng"
    description: str = "Search the web through SearXNG."
    usd_per_query: float | None = 0.0
    base_url: str | None = None
    timeout_s: float = 20.0
    language: str | None = None

    _client: JsonClient = PrivateAttr()
    _url: str = PrivateAttr()

    @classmethod
    def build(cls, *, timeout_s: float, replayed: bool, url: str | None = None) -> SearxngSearch:
        return cls(timeout_s=timeout_s, base_url=_NOWHERE if replayed else url)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        url = self.base_url or os.environ.get(URL_VARIABLE)
        if not url:
            raise ConfigError(f"searxng needs a server; set {URL_VARIABLE} or `searxng_url`")
        self._url = checked_base_url(url, URL_VARIABLE)
        self._client = JsonClient(tool=self.name, base_url=self._url, timeout_s=self.timeout_s, hints={403: _NO_JSON})

    @property
    def identity(self) -> str:
        return f"searxng {without_userinfo(self._url)} language={self.language}"

    @property
    def recorded_as(self) -> str:
        return f"searxng language={self.language}"

    def reach(self) -> None:
        self._client.reach(timeout_s=REACH_S)

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Raises ToolError if engines failed and there are no results, or if no page contains text.

        Pages without text are skipped. If all of them are, an engine's markup may have changed.
        """
        if not query.strip() or limit < 1:
            return []
        params: dict[str, str | int] = {"q": query, "format": "json"}
        if self.language is not None:
            params["language"] = self.language
        try:
            answer = _SearxngResults.model_validate(self._client.get("/search", params))
        except ValidationError as error:
            raise misshapen(self.name, error) from error
        if not answer.results and answer.unresponsive_engines:
            raise ToolError("searxng: none of the engines answered", tool=self.name, retryable=True)
        hits = [
            SearchHit(source=item.url, title=item.title or "", passage=item.content or "", published=item.published)
            for item in answer.results
        ]
        return with_text(self.name, hits, limit)
