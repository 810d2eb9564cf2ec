"""Opens the search tools and the embedding model specified in the settings."""

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
    """The caller's own tools, then those in the settings. Indexes the documents. Raises ConfigError or DataError."""
    settings = settings.of_search_tools  # other settings are ignored, so that equal tools can be shared
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
        raise ConfigError(f"search tools must have different names, not {', '.join(sorted(names))}")
    return tools


def build_embedder(settings: EmbeddingSettings) -> Any:
    """Loads the embedding model, if one is set. Raises ConfigError if that fails."""
    if settings.embeddings is None:
        return None
    from factloop.tools.embeddings.sentence import SentenceTransformerEmbedder

    embedder = SentenceTransformerEmbedder(settings.embeddings)
    _ = embedder.dimension  # loaded now, so that errors are found before any money is spent
    return embedder
