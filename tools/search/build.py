"""Builds search tools from their names on the command line and in settings."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from factloop.core.errors import ConfigError
from factloop.core.plugins import SEARCH, load_plugin, plugin_names

if TYPE_CHECKING:
    from factloop.tools.embeddings.nearest import Embedder
    from factloop.tools.search.base import SearchTool


class SearchBuilder(Protocol):
    """What an entry point in `factloop.search` must refer to, such as `package.module:MySearch.build`."""

    def __call__(self, *, timeout_s: float, replayed: bool, **options: Any) -> SearchTool:
        """Raises ConfigError if a key or URL is missing.

        If `replayed`, the tool must not require a key or URL, because its results are recorded and it is never called.
        Only built-in tools get `options`, which are the settings whose names start with the tool's name.
        """
        ...


PROVIDERS = {
    "serper": "serper:SerperSearch",
    "wikipedia": "wikipedia:WikipediaSearch",
    "searxng": "searxng:SearxngSearch",
    "tavily": "hosted:TavilySearch",
    "brave": "hosted:BraveSearch",
    "exa": "hosted:ExaSearch",
}
"""Maps the name of each built-in search to its module in `factloop.tools.search` and its class."""


def built_in_searches() -> tuple[str, ...]:
    return tuple(PROVIDERS)


def search_builder(name: str) -> SearchBuilder:
    """Returns the builder of the named search. Imports only its module. Raises ConfigError for unknown names."""
    if name in PROVIDERS:
        module, _, tool = PROVIDERS[name].partition(":")
        return cast("SearchBuilder", getattr(import_module(f"factloop.tools.search.{module}"), tool).build)
    builder = load_plugin(SEARCH, name)
    if builder is None:
        raise _unknown(name)
    return cast("SearchBuilder", builder)


def check_names(names: Sequence[str]) -> None:
    """Raises ConfigError for unknown names. Imports no modules."""
    for name in names:
        if name not in PROVIDERS and name not in plugin_names(SEARCH):
            raise _unknown(name)


def _unknown(name: str) -> ConfigError:
    known = ", ".join((*PROVIDERS, *plugin_names(SEARCH)))
    return ConfigError(f"unknown search {name!r}; use {known}, or a path to documents")


def build_search_tools(
    names: Sequence[str],
    docs: Sequence[str | Path] = (),
    *,
    timeout_s: float = 20.0,
    cache_dir: Path | None = None,
    in_memory: bool = False,
    fail_if_unreadable: bool = False,
    embedder: Embedder | None = None,
    replayed: bool = False,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[SearchTool]:
    """Builds one tool for each distinct name, in order, and then one for all documents, if there are any.

    Documents are indexed here, which may take seconds. With `replayed`, the tools need no key or URL, because their
    results are recorded and they are never called. `options` maps each name to further arguments for its builder.
    Raises ConfigError for an unknown name or a missing key or URL, and DataError for unreadable documents.
    """
    check_sources(names)
    own = options or {}
    tools = [
        search_builder(name)(timeout_s=timeout_s, replayed=replayed, **own.get(name, {}))
        for name in dict.fromkeys(names)
    ]
    if docs:
        from factloop.tools.search.documents.search import DocumentSearch

        tools.append(
            DocumentSearch(docs, cache_dir=cache_dir, in_memory=in_memory, strict=fail_if_unreadable, embedder=embedder)
        )
    return tools


def check_settings(names: Sequence[str], docs: Sequence[str | Path] = ()) -> None:
    """Checks that all names are known and all paths except globs exist, without opening them. Raises ConfigError."""
    check_names(names)
    for place in docs:
        if not glob.has_magic(str(place)) and not os.path.lexists(os.path.expanduser(place)):
            raise ConfigError(f"{place}: there is no such file or folder")


def check_sources(names: Sequence[str], docs: Sequence[str | Path] = ()) -> None:
    """Checks that all names are known and all paths point to files. Raises ConfigError or DataError."""
    check_names(names)
    if docs:
        from factloop.tools.search.documents.files import find_files

        find_files(docs)
