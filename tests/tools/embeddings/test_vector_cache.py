from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from factloop.tools.embeddings.sentence import VectorCache


class Counting:
    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        self.asked.append(texts)
        return np.array([[len(text)] for text in texts], dtype=np.float32)


def test_forgets_what_was_not_used_for_longest() -> None:
    cache, encode = VectorCache(2), Counting()
    for text in ("a", "b", "a", "c", "a", "b"):
        cache.encode([text], encode)
    assert encode.asked == [["a"], ["b"], ["c"], ["b"]]
