"""The search tools and the embedding model that settings name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from factloop.core.errors import ConfigError
from factloop.setup.caching.folder import INDEXES, cache_folder
from factloop.setup.caching.opening import tidy
from factloop.setup.settings import CheckSettings, EmbeddingSettings
from factloop.tools.search.base import SearchTool
from factloop.tools.search.build import build_search_tools


def open_search_tools(settings: CheckSettings, own: Sequence[SearchTool] = ()) -> tuple[SearchTool, ...]:
    """The user's own tools, and after them those that the settings name.

    Reads and indexes the documents; indexes are kept as the settings say. Raises ConfigError, DataError.
    """
    settings = settings.of_search_tools  # nothing else is read, so that equal ones may share their tools
    folder = cache_folder(settings, INDEXES) if settings.docs else None
    built = build_search_tools(
        settings.search,
        settings.docs,
        timeout_s=settings.timeout_s,
        cache_dir=folder,
        in_memory=folder is None,
        fail_if_unreadable=settings.fail_if_unreadable,
        embedder=build_embedder(settings) if settings.docs else None,
        replayed=settings.replays,
        options={name: settings.of_search(name) for name in settings.search},
    )
    if folder is not None:
        tidy(settings)
    tools = (*own, *built)
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise ConfigError(f"two search tools have one name: {', '.join(sorted(names))}")
    return tools


def build_embedder(settings: EmbeddingSettings) -> Any:
    """The embedding model that the settings name, loaded; None without one. Raises ConfigError where it cannot be."""
    if settings.embeddings is None:
        return None
    from factloop.tools.embeddings.sentence import SentenceTransformerEmbedder

    embedder = SentenceTransformerEmbedder(settings.embeddings)
    _ = embedder.dimension  # loads it now: what is wrong with it is said before anything is spent
    return embedder
