"""Vectors of texts seen before, the most recently used ones, within a bound."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class VectorCache:
    """Holds at most `max_texts` vectors by hash of their text: some 1.6 KB each at 384 dimensions. Thread-safe."""

    def __init__(self, max_texts: int) -> None:
        self._max_texts = max_texts
        self._kept: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = Lock()

    def encode(self, texts: Sequence[str], encode_new: Callable[[list[str]], Vectors]) -> Vectors:
        """Vectors of shape (len(texts), dim); `encode_new` is called once, with the distinct texts not yet known."""
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
