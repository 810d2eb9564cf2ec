"""The interface of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Maps texts to vectors whose dot product is their similarity."""

    @property
    def name(self) -> str:
        """Names the model, for the fingerprint of a run."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dim), each of unit length, in the order of the texts."""
        ...
