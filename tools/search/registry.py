"""The web searches that can be named: ours, and those that other distributions add under `factloop.search`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from factloop.core.errors import ConfigError
from factloop.core.plugins import SEARCH, load_plugin, plugin_names

if TYPE_CHECKING:
    from factloop.tools.search.base import SearchTool


class SearchBuilder(Protocol):
    """The builder that an entry point of `factloop.search` names, such as `package.module:MySearch.build`."""

    def __call__(self, *, timeout_s: float, replayed: bool, **options: Any) -> SearchTool:
        """The tool. `replayed`: what it found is recorded and it is never asked, so it must need neither key nor
        address. `options`: the settings whose names begin with the provider's, for ours alone. Raises ConfigError where
        a key or an address is missing."""
        ...


PROVIDERS = {
    "serper": "serper:SerperSearch",
    "wikipedia": "wikipedia:WikipediaSearch",
    "searxng": "searxng:SearxngSearch",
    "tavily": "tavily:TavilySearch",
    "brave": "brave:BraveSearch",
    "exa": "exa:ExaSearch",
}
"""Ours: name, and the module of `factloop.tools.search` with the `SearchTool`."""


def built_in_searches() -> tuple[str, ...]:
    """Names of ours."""
    return tuple(PROVIDERS)


def search_builder(name: str) -> SearchBuilder:
    """The builder of the search of that name; only its module is imported. Raises ConfigError for an unknown name."""
    if name in PROVIDERS:
        module, _, tool = PROVIDERS[name].partition(":")
        return cast("SearchBuilder", getattr(import_module(f"factloop.tools.search.{module}"), tool).build)
    builder = load_plugin(SEARCH, name)
    if builder is None:
        raise _unknown(name)
    return cast("SearchBuilder", builder)


def check_names(names: Sequence[str]) -> None:
    """Raises ConfigError for a name that is unknown. Imports nothing."""
    for name in names:
        if name not in PROVIDERS and name not in plugin_names(SEARCH):
            raise _unknown(name)


def _unknown(name: str) -> ConfigError:
    known = ", ".join((*PROVIDERS, *plugin_names(SEARCH)))
    return ConfigError(f"unknown search {name!r}: known are {known}, and documents by their path")
