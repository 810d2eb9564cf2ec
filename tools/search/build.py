"""Search tools by their names, as the command line and the settings give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from factloop.core.errors import ConfigError
from factloop.tools.search.base import SearchTool

if TYPE_CHECKING:
    from factloop.tools.embeddings.base import Embedder

NOWHERE = "http://replayed.invalid"


def build_search_tools(
    names: Sequence[str],
    docs: Sequence[str | Path] = (),
    *,
    timeout_s: float = 20.0,
    cache_dir: Path | None = None,
    in_memory: bool = False,
    embedder: Embedder | None = None,
    replayed: bool = False,
) -> list[SearchTool]:
    """One tool for each name, in order and each once, then one for all the documents, if any.

    Documents are indexed here: that may take seconds. Raises ConfigError for an unknown name or a missing key or
    address, DataError for unreadable documents. Only the modules of the tools asked for are imported. `replayed` tools
    need neither key nor address: what they found is recorded, and nobody asks them.
    """
    check_sources(names)
    tools = [_BUILDERS[name](timeout_s, replayed) for name in dict.fromkeys(names)]
    if docs:
        from factloop.tools.search.documents import DocumentSearch

        tools.append(DocumentSearch(docs, cache_dir=cache_dir, in_memory=in_memory, embedder=embedder))
    return tools


def check_sources(names: Sequence[str], docs: Sequence[str | Path] = ()) -> None:
    """Sees that every name is known and every path leads to files. Reads no file. Raises ConfigError, DataError."""
    for name in names:
        if name not in _BUILDERS:
            known = ", ".join(_BUILDERS)
            raise ConfigError(f"unknown search {name!r}: known are {known}, and documents by their path")
    if docs:
        from factloop.tools.search.documents.files import find_files

        find_files(docs)


def _serper(timeout_s: float, replayed: bool) -> SearchTool:
    from factloop.tools.search.serper import SerperSearch

    return SerperSearch(timeout_s=timeout_s, api_key=SecretStr("none") if replayed else None)


def _wikipedia(timeout_s: float, _replayed: bool) -> SearchTool:
    from factloop.tools.search.wikipedia import WikipediaSearch

    return WikipediaSearch(timeout_s=timeout_s)


def _searxng(timeout_s: float, replayed: bool) -> SearchTool:
    from factloop.tools.search.searxng import SearxngSearch

    return SearxngSearch(timeout_s=timeout_s, base_url=NOWHERE if replayed else None)


_BUILDERS: dict[str, Callable[[float, bool], SearchTool]] = {
    "serper": _serper,
    "wikipedia": _wikipedia,
    "searxng": _searxng,
}
