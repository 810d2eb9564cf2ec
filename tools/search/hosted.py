"""Hosted searches through the LangChain packages of their providers, by one adapter: hits, keys, prices and failures.

The packages say the status of a refusal in words alone, and in some ways of asking hand a failure over as a result. So
each is asked in the way that raises, and what it raises is read for that status.
"""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import aiohttp
import requests
from pydantic import PrivateAttr, SecretStr

from factloop.core.errors import FactloopError, ToolError, ToolTimeout
from factloop.core.extras import require
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.calls.retry import TOO_MANY_REQUESTS
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool
from factloop.tools.search.keys import key_of

_STATUS = re.compile(r"\b(?:[Ee]rror|status code) (?P<status>[45]\d\d)\b")
_RETRYABLE = frozenset({408, TOO_MANY_REQUESTS})
_KEY_REFUSED = frozenset({401, 403})
_UNREACHABLE = (requests.ConnectionError, aiohttp.ClientConnectionError)


class HostedSearch(SearchTool):
    """Base of hosted searches. The key comes from `api_key` or the provider's own variable.

    Construction raises ConfigError if the key is missing or the URL is invalid; `build`, and each search, MissingExtra
    without the extra `searches`.
    """

    package: ClassVar[str]
    """The LangChain package, by its import name."""
    key_variable: ClassVar[str]
    url_variable: ClassVar[str]
    default_url: ClassVar[str]
    site: ClassVar[str]
    """Where keys are given out."""

    api_key: SecretStr | None = None
    base_url: str | None = None
    timeout_s: float = 20.0

    _url: str = PrivateAttr()
    _key: SecretStr = PrivateAttr()

    @classmethod
    def build(cls, *, timeout_s: float, replayed: bool) -> Self:
        if not replayed:
            cls.require_package()
        return cls.model_validate({"timeout_s": timeout_s, "api_key": "none" if replayed else None})

    @classmethod
    def require_package(cls) -> None:
        """Raises MissingExtra without the provider's package."""
        require("searches", f"--search {cls.model_fields['name'].default}", cls.package)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._key = SecretStr(key_of(self.name, self.api_key, self.key_variable, self.site))
        url = self.base_url or os.environ.get(self.url_variable) or self.default_url
        self._url = checked_base_url(url, self.url_variable)

    @property
    def identity(self) -> str:
        return f"{self.name} {without_userinfo(self._url)}"

    @property
    def recorded_as(self) -> str:
        return self.name

    def reach(self) -> None:
        """Sees that the server answers. Whether it takes the key shows with the first query, which costs."""
        JsonClient(tool=self.name, base_url=self._url, timeout_s=self.timeout_s).reach(timeout_s=REACH_S)

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Costs one query. An empty one asks nothing and finds nothing."""
        if not query.strip() or limit < 1:
            return []
        with self._failures():
            return self._found(query, limit)[:limit]

    @abstractmethod
    def _found(self, query: str, limit: int) -> list[SearchHit]:
        """The hits of one call of the package. Whatever it raises is a failure."""

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Raises ToolError for what the package raises inside."""
        try:
            yield
        except FactloopError:
            raise
        except Exception as error:  # the packages raise plain Exception and ValueError
            raise self._failure(error) from error

    def _misshapen(self, where: str) -> ToolError:
        return ToolError(
            f"{self.name}: the answer has another shape than search results have (at {where!r})", tool=self.name
        )

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
