"""Finds the words in a list that are closest in meaning to a word or name."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from factloop.core.files.private import make_private_folder
from factloop.tools.embeddings.nearest import Embedder, nearest

_PROBE_WORDS = 4
_BATCH = 512


class EmbeddedWords:
    """A list of words with their vectors. It is thread-safe.

    The first call embeds all words (300 to 700 per second with MiniLM on one core) unless `cache_dir` contains vectors
    from an earlier run. Vectors that cannot be saved are kept in memory.
    """

    def __init__(self, embedder: Embedder, words: Sequence[str], cache_dir: Path | None = None) -> None:
        self._embedder = embedder
        self._words = tuple(words)
        self._cache_dir = cache_dir
        self._matrix: NDArray[np.float32] | None = None
        self._loading = Lock()

    def neighbours(self, text: str, limit: int) -> list[tuple[str, float]]:
        """Returns up to `limit` words, nearest first, with their cosine similarity. May include the text itself."""
        if not self._words or limit < 1:
            return []
        return [
            (self._words[row], score)
            for row, score in nearest(self._vectors(), self._embedder.encode([text])[0], limit)
        ]

    def _vectors(self) -> NDArray[np.float32]:
        with self._loading:
            if self._matrix is None:
                self._matrix = self._kept()
            if self._matrix is None:
                parts = [self._words[first : first + _BATCH] for first in range(0, len(self._words), _BATCH)]
                self._matrix = np.concatenate([self._embedder.encode(part) for part in parts])
                self._keep(self._matrix)
            return self._matrix

    def _path(self) -> Path | None:
        if self._cache_dir is None:
            return None
        digest = hashlib.sha256("\n".join((self._embedder.name, *self._words)).encode("utf-8", "surrogatepass"))
        return self._cache_dir / f"words-{digest.hexdigest()[:32]}.npy"

    def _kept(self) -> NDArray[np.float32] | None:
        """Recomputes a few of the saved vectors as a check, because different models may share a name."""
        path = self._path()
        if path is None:
            return None
        with suppress(OSError):
            os.utime(path)  # marks the file as in use
        try:
            matrix: NDArray[np.float32] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        probe = self._embedder.encode(self._words[:_PROBE_WORDS])
        if matrix.shape != (len(self._words), probe.shape[1]) or matrix.dtype != np.float32:
            return None
        return matrix if np.allclose(matrix[:_PROBE_WORDS], probe, atol=1e-3) else None

    def _keep(self, matrix: NDArray[np.float32]) -> None:
        path = self._path()
        if path is None:
            return
        with suppress(OSError):
            make_private_folder(path.parent)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.stem, delete=False) as file:
                unfinished = Path(file.name)
                try:
                    np.save(file, matrix)
                    file.close()
                    unfinished.replace(path)
                finally:
                    unfinished.unlink(missing_ok=True)
