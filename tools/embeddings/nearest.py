"""The rows of a large matrix that point most nearly where a vector points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CHUNK_ROWS = 16_384
"""Rows multiplied at once: 20 MB at 300 dimensions, so that a matrix on disk is never in memory as a copy."""


def nearest(matrix: NDArray[np.float32], query: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
    """At most `limit` rows with their dot products with `query`, highest first; among equals the first rows first.

    `matrix` has shape (n_rows, dim) and may be mapped from a file; `query` has shape (dim,).
    """
    if limit < 1 or not len(matrix):
        return []
    scores = np.concatenate(
        [matrix[first : first + CHUNK_ROWS] @ query for first in range(0, len(matrix), CHUNK_ROWS)], dtype=np.float32
    )
    kept = np.arange(len(scores))
    if limit < len(scores):
        lowest_kept = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        kept = np.flatnonzero(scores >= lowest_kept)  # all that tie with the last one, so that ties go by row
    order = np.lexsort((kept, -scores[kept]))[:limit]
    return [(int(row), float(scores[row])) for row in kept[order]]
