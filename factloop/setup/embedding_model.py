"""Builds the embedding model, which runs on this machine."""

from __future__ import annotations

from typing import Any

from factloop.setup.settings import RunSettings


def build_embedder(settings: RunSettings) -> Any:
    """The embedding model that the settings name, or None."""
    if settings.embeddings is None:
        return None
    from factloop.tools.embeddings.sentence import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(settings.embeddings)
