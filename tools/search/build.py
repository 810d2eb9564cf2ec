"""Search tools by their names, as the command line and the settings give them."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factloop.core.errors import ConfigError
from factloop.tools.search.base import SearchTool
from factloop.tools.search.registry import check_names, search_builder

if TYPE_CHECKING:
    from factloop.tools.embeddings.base import Embedder


def build_search_tools(
    names: Sequence[str],
    docs: Sequence[str | Path] = (),
    *,
    timeout_s: float = 20.0,
    cache_dir: Path | None = None,
    in_memory: bool = False,
    strict_docs: bool = False,
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
            DocumentSearch(docs, cache_dir=cache_dir, in_memory=in_memory, strict=strict_docs, embedder=embedder)
        )
    return tools


def check_settings(names: Sequence[str], docs: Sequence[str | Path] = ()) -> None:
    """Sees that every name is known and every path that is no glob is there. Opens no folder. Raises ConfigError."""
    check_names(names)
    for place in docs:
        if not glob.has_magic(str(place)) and not os.path.lexists(os.path.expanduser(place)):
            raise ConfigError(f"{place}: there is no such file or folder")


def check_sources(names: Sequence[str], docs: Sequence[str | Path] = ()) -> None:
    """Sees that every name is known and every path leads to files. Reads no file. Raises ConfigError, DataError."""
    check_names(names)
    if docs:
        from factloop.tools.search.documents.files import find_files

        find_files(docs)
