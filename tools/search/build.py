"""Search tools by their names, as the command line and the settings give them."""

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
    "tavily": "hosted:TavilySearch",
    "brave": "hosted:BraveSearch",
    "exa": "hosted:ExaSearch",
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
    """One tool for each name, in order and each once, then one for all the documents, if any.

    Documents are indexed here: that may take seconds. Raises ConfigError for an unknown name or a missing key or
    address, DataError for unreadable documents. Only the modules of the tools asked for are imported. `replayed` tools
    need neither key nor address: what they found is recorded, and they are not called. `options`: what else the builder
    of a name is given.
    """
    check_sources(names)
    own = options or {}
    tools = [
        search_builder(name)(timeout_s=timeout_s, replayed=replayed, **own.get(name, {}))
        for name in dict.fromkeys(names)
    ]
    if docs:
        from factloop.tools.search.documents import DocumentSearch

        tools.append(
            DocumentSearch(docs, cache_dir=cache_dir, in_memory=in_memory, strict=fail_if_unreadable, embedder=embedder)
        )
    return tools


def check_settings(names: Sequence[str], docs: Sequence[str | Path] = ()) -> None:
    """Checks that every name is known, and that every path but globs exists. Opens no folder. Raises ConfigError."""
    check_names(names)
    for place in docs:
        if not glob.has_magic(str(place)) and not os.path.lexists(os.path.expanduser(place)):
            raise ConfigError(f"{place}: there is no such file or folder")


def check_sources(names: Sequence[str], docs: Sequence[str | Path] = ()) -> None:
    """Checks that every name is known and every path leads to files. Reads none. Raises ConfigError, DataError."""
    check_names(names)
    if docs:
        from factloop.tools.search.documents.files import find_files

        find_files(docs)
