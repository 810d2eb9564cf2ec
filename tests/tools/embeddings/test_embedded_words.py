from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from factloop.tools.embeddings.embedded_words import EmbeddedWords

WORDS = ("king", "queen", "city", "river", "stone", "bread")


class CountingEmbedder:
    """Embeds a text as an angle that grows with its place in the list, and counts the texts."""

    def __init__(self, name: str = "angles", *, turn: float = 0.0, dim: int = 2) -> None:
        self.name = name
        self.n_texts = 0
        self._turn, self._dim = turn, dim

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.n_texts += len(texts)
        places = np.array([WORDS.index(text) if text in WORDS else 0.4 for text in texts])
        angles = np.radians(20.0) * places * (1 - self._turn)
        vectors = np.zeros((len(texts), self._dim), dtype=np.float32)
        vectors[:, 0], vectors[:, 1] = np.cos(angles), np.sin(angles)
        return vectors


@pytest.mark.parametrize("other", [CountingEmbedder(turn=0.5), CountingEmbedder(dim=3)])
def test_vectors_of_another_model_by_the_same_name_are_not_used(tmp_path: Path, other: CountingEmbedder) -> None:
    EmbeddedWords(CountingEmbedder(), WORDS, tmp_path).neighbours("king", 1)
    kept = EmbeddedWords(other, WORDS, tmp_path).neighbours("stone", 6)
    assert kept == EmbeddedWords(other, WORDS).neighbours("stone", 6)


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    assert EmbeddedWords(CountingEmbedder(), WORDS, blocked).neighbours("something", 1)[0][0] == "king"


def test_threads_embed_the_words_once() -> None:
    embedder = CountingEmbedder()
    words = EmbeddedWords(embedder, WORDS)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: words.neighbours("king", 6), range(16)))
    assert found == [found[0]] * 16
    assert embedder.n_texts == len(WORDS) + 16
