"""Finds the rows of a large matrix that are closest in direction to a vector, and combines rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Maps texts to vectors whose dot product is the texts' similarity."""

    @property
    def name(self) -> str: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns unit vectors of shape (len(texts), dim)."""
        ...


CHUNK_ROWS = 16_384
"""Number of rows to multiply at a time (20 MB at 300 dimensions). A matrix on disk is never loaded whole."""


def nearest(matrix: NDArray[np.float32], query: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
    """Returns up to `limit` row numbers and their dot products with `query`, highest first. Ties keep the row order.

    `matrix` has shape (n_rows, dim) and may be a memory-mapped file. `query` has shape (dim,).
    """
    if limit < 1 or not len(matrix):
        return []
    scores = np.concatenate(
        [matrix[first : first + CHUNK_ROWS] @ query for first in range(0, len(matrix), CHUNK_ROWS)], dtype=np.float32
    )
    kept = np.arange(len(scores))
    if limit < len(scores):
        lowest_kept = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        kept = np.flatnonzero(scores >= lowest_kept)  # includes all ties with the last value, which are ordered by row
    order = np.lexsort((kept, -scores[kept]))[:limit]
    return [(int(row), float(scores[row])) for row in kept[order]]


RRF_K = 60
"""The constant used by Cormack et al. (2009). The larger it is, the less ranks matter."""


def rank_fusion(rankings: Sequence[Sequence[int]], k: int = RRF_K) -> list[int]:
    """Returns the items sorted by the sum of 1 / (k + rank) over the rankings, best first.

    This is reciprocal rank fusion (Cormack et al. 2009). Ranks start at 1. A ranking without the item adds nothing.
    Ties keep the order of the first ranking that contains them.
    """
    sums: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            sums[item] = sums.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(sums, key=lambda item: -sums[item])


def rank_passages(query: str, passages: Sequence[str], embedder: Embedder) -> list[int]:
    """Reranks passages by combining their order with their similarity in meaning to the query.

    Returns their indices, best first. Calls `encode` once.
    """
    if len(passages) < 2:
        return list(range(len(passages)))
    vectors = embedder.encode([query, *passages])
    similarities = (vectors[1:] @ vectors[0]).tolist()
    by_words = range(len(passages))
    by_meaning = sorted(by_words, key=lambda index: -similarities[index])
    return rank_fusion([by_words, by_meaning])
