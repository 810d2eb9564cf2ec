"""Hosted searches that are asked over HTTP with a key in a header."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, PrivateAttr, SecretStr, ValidationError

from factloop.core.errors import ConfigError, ToolError
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.search.base import REACH_S, SearchTool


def key_of(tool: str, given: SecretStr | None, variable: str, site: str) -> str:
    """The key, without spaces around it. Raises ConfigError where there is none, or no HTTP header can carry it.

    `site` is where keys are given out.
    """
    key = given.get_secret_value() if given else os.environ.get(variable, "")
    if not key.strip():
        raise ConfigError(f"{tool} needs a key: set {variable} (one is given out at {site})")
    if not (key.isascii() and key.strip().isprintable()):
        raise ConfigError(f"the key in {variable} holds characters that no HTTP header can carry")
    return key.strip()


T = TypeVar("T", bound=BaseModel)


class KeyedSearch(SearchTool):
    """Base of hosted searches. The key comes from `api_key` or the provider's own variable.

    Construction raises ConfigError if the key is missing or the URL is invalid.
    """

    key_variable: ClassVar[str]
    url_variable: ClassVar[str]
    default_url: ClassVar[str]
    site: ClassVar[str]
    """Where keys are given out."""
    key_header: ClassVar[str]
    key_scheme: ClassVar[str] = ""
    """What stands before the key in its header."""

    api_key: SecretStr | None = None
    base_url: str | None = None
    timeout_s: float = 20.0

    _client: JsonClient = PrivateAttr()
    _key: SecretStr = PrivateAttr()
    _url: str = PrivateAttr()

    @classmethod
    def build(cls, *, timeout_s: float, replayed: bool) -> Self:
        return cls.model_validate({"timeout_s": timeout_s, "api_key": "none" if replayed else None})

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._key = SecretStr(key_of(self.name, self.api_key, self.key_variable, self.site))
        url = self.base_url or os.environ.get(self.url_variable) or self.default_url
        self._url = checked_base_url(url, self.url_variable)
        refused = f"the key in {self.key_variable} was refused"
        self._client = JsonClient(
            tool=self.name,
            base_url=self._url,
            timeout_s=self.timeout_s,
            secret_headers={self.key_header: self.key_scheme + self._key.get_secret_value()},
            hints={401: refused, 403: refused},
        )

    @property
    def identity(self) -> str:
        return f"{self.name} {without_userinfo(self._url)}"

    @property
    def recorded_as(self) -> str:
        return self.name

    def reach(self) -> None:
        """Sees that the server answers. Whether it takes the key shows with the first query, which costs."""
        self._client.reach(timeout_s=REACH_S)

    def _read(self, answer: dict[str, Any], shape: type[T]) -> T:
        """The answer, typed. Raises ToolError for another shape: what is no answer is not "nothing found"."""
        try:
            return shape.model_validate(answer)
        except ValidationError as error:
            raise misshapen(self.name, error) from error


def misshapen(name: str, error: ValidationError) -> ToolError:
    """The failure of a search whose answer does not read as results."""
    where = ".".join(str(part) for part in error.errors()[0]["loc"])
    said = f"the answer has another shape than search results have (at {where!r})"
    return ToolError(f"{name}: {said}", tool=name, status=200)
