"""The bounded memory of vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from factloop.tools.embeddings.cache import VectorCache


class Counting:
    """Encodes a text as its length, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        self.asked.append(texts)
        return np.array([[len(text)] for text in texts], dtype=np.float32)


def test_keeps_order_and_encodes_each_text_once() -> None:
    cache, encode = VectorCache(10), Counting()
    assert cache.encode(["aa", "b", "aa"], encode).tolist() == [[2.0], [1.0], [2.0]]
    assert cache.encode(["b", "ccc"], encode).tolist() == [[1.0], [3.0]]
    assert encode.asked == [["aa", "b"], ["ccc"]]


def test_forgets_what_was_not_used_for_longest() -> None:
    cache, encode = VectorCache(2), Counting()
    for text in ("a", "b", "a", "c", "a", "b"):
        cache.encode([text], encode)
    assert encode.asked == [["a"], ["b"], ["c"], ["b"]]


def test_more_texts_than_it_keeps_are_still_answered() -> None:
    cache, encode = VectorCache(1), Counting()
    assert cache.encode(["a", "bb", "ccc"], encode).tolist() == [[1.0], [2.0], [3.0]]


def test_a_lone_surrogate_is_a_text_like_any_other() -> None:
    assert VectorCache(1).encode(["\ud800"], Counting()).shape == (1, 1)
