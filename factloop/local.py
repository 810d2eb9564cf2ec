"""What runs and lies on this machine: the folder where things are kept, the embedding model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from factloop.settings import RunSettings


def cache_folder(settings: RunSettings) -> Path:
    """Where answers and document indexes are kept."""
    if settings.cache_dir is not None:
        return settings.cache_dir
    import platformdirs

    return Path(platformdirs.user_cache_dir("factloop", appauthor=False))


def build_embedder(settings: RunSettings) -> Any:
    """The embedding model that the settings name, or None."""
    if settings.embeddings is None:
        return None
    from factloop.tools.embeddings.sentence import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(settings.embeddings)
