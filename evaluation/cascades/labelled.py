"""Labelled claims with a verifier's scores, and the similarity of claims within a group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array  # type: ignore[import-untyped]  # its stubs are not a dependency
from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]  # as above


@dataclass(frozen=True)
class ScoredLabels:
    scores: NDArray[np.float64]
    """In [0, 1], or NaN if the verifier gave no score. Shape (n_claims,)."""
    labels: NDArray[np.int8]
    """1 if supported, 0 if not. Shape (n_claims,)."""
    groups: NDArray[np.int64]
    """Claims with the same number are dependent (see `groups_of`). Shape (n_claims,)."""

    @property
    def n(self) -> int:
        return len(self.scores)


def groups_of(*keys: Sequence[Hashable | None]) -> NDArray[np.int64]:
    """Returns a group number for each row. Rows that share a key in any column are in the same group. Two groups with a
    row in common are merged. None is not a key. Numbers start at 0, in no meaningful order."""
    n = len(keys[0])
    rows: list[int] = []
    places: list[int] = []
    nodes: dict[tuple[int, Hashable], int] = {}
    for column, values in enumerate(keys):
        for row, value in enumerate(values):
            if value is not None:
                rows.append(row)
                places.append(nodes.setdefault((column, value), n + len(nodes)))
    size = n + len(nodes)
    graph = coo_array((np.ones(len(rows)), (rows, places)), shape=(size, size))
    _, found = connected_components(graph, directed=False)
    return np.asarray(found[:n], np.int64)


def likeness(labels: NDArray[np.int8], groups: NDArray[np.int64]) -> float | None:
    """Returns the intraclass correlation of labels within groups, in [0, 1] (one-way ANOVA, negative values set to 0).
    The result is 0 if every claim is its own group, and None if there are fewer than two groups."""
    _, number, size = np.unique(groups, return_inverse=True, return_counts=True)
    n, n_groups = len(labels), len(size)
    if n_groups < 2:
        return None
    if n_groups == n:
        return 0.0
    means = np.bincount(number, labels) / size
    between = float((size * (means - labels.mean()) ** 2).sum()) / (n_groups - 1)
    within = float((size * means * (1 - means)).sum()) / (n - n_groups)
    typical = (n - float((size**2).sum()) / n) / (n_groups - 1)
    spread = between + (typical - 1) * within
    return min(1.0, max(0.0, (between - within) / spread)) if spread > 0 else 0.0
