"""BM25 order and the order by meaning, fused."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack et al. 2009), with the value of that paper."""
_MAX_VECTORS = 50_000


class Embedder(Protocol):
    """Texts into vectors of length one."""

    def encode(self, texts: Sequence[str]) -> NDArray[Any]:
        """Shape (n, dim), one unit row a text."""
        ...


class Reranker:
    """Fuses the given order with that of cosine similarity. Keeps the vectors of passages it has seen.

    Safe to call from many threads: one encodes at a time.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[str, NDArray[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def order(self, query: str, passages: Sequence[str]) -> list[int]:
        """Indices into the passages (which come best first), best first. Costs one encoding of what is new."""
        if len(passages) < 2:
            return list(range(len(passages)))
        with self._lock:
            similarities = self._similarities(query, passages)
        by_meaning = np.argsort(-similarities, kind="stable")
        place = np.empty(len(passages), dtype=np.int64)
        place[by_meaning] = np.arange(len(passages))
        scores = 1 / (RRF_K + 1 + np.arange(len(passages))) + 1 / (RRF_K + 1 + place)
        return [int(index) for index in np.argsort(-scores, kind="stable")]

    def _similarities(self, query: str, passages: Sequence[str]) -> NDArray[Any]:
        new = list(dict.fromkeys(passage for passage in passages if passage not in self._vectors))
        encoded = self._embedder.encode([query, *new])
        self._vectors.update(zip(new, encoded[1:], strict=True))
        similarities = np.stack([self._vectors[passage] for passage in passages]) @ encoded[0]
        for passage in passages:
            self._vectors.move_to_end(passage)
        while len(self._vectors) > _MAX_VECTORS:
            self._vectors.popitem(last=False)
        return np.asarray(similarities)
