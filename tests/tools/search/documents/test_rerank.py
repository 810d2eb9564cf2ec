from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factloop.tools.search.documents.rerank import Reranker


class Directions:
    """Each text is an angle in degrees."""

    def encode(self, texts: Sequence[str]) -> NDArray[Any]:
        angles = np.radians([float(text) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_reciprocal_rank_fusion() -> None:
    # By meaning, nearest to 0 degrees first: passages 2 (10), 1 (50), 3 (60), 0 (90).
    # 0: 1/61 + 1/64 = .032018; 1: 1/62 + 1/62 = .032258; 2: 1/63 + 1/61 = .032266; 3: 1/64 + 1/63 = .031498.
    assert Reranker(Directions()).order("0", ["90", "50", "10", "60"]) == [2, 1, 0, 3]


def test_nothing_to_order_costs_nothing() -> None:
    class Unused:
        def encode(self, texts: Sequence[str]) -> NDArray[Any]:
            raise AssertionError(texts)

    assert Reranker(Unused()).order("0", []) == []
    assert Reranker(Unused()).order("0", ["90"]) == [0]
