"""A vocabulary is embedded once, for all runs that share the folder, and never served from another model's vectors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from factloop.tools.embeddings.embedded_words import EmbeddedWords
from tests.rights import open_to_others

WORDS = ("king", "queen", "city", "river", "stone", "bread")


class CountingEmbedder:
    """Points a text at an angle that grows with its place in the list; remembers how many texts it was given."""

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


def test_neighbours_come_nearest_first() -> None:
    found = EmbeddedWords(CountingEmbedder(), WORDS).neighbours("something", 3)
    # "something" points at 8 degrees: 8 from king (0), 12 from queen (20), 32 from city (40).
    assert dict(found) == pytest.approx(
        {"king": np.cos(np.radians(8)), "queen": np.cos(np.radians(12)), "city": np.cos(np.radians(32))}, abs=1e-6
    )
    assert [word for word, _ in found] == ["king", "queen", "city"]


def test_no_words_or_no_limit_gives_nothing_and_embeds_nothing() -> None:
    embedder = CountingEmbedder()
    assert EmbeddedWords(embedder, ()).neighbours("king", 3) == []
    assert EmbeddedWords(embedder, WORDS).neighbours("king", 0) == []
    assert embedder.n_texts == 0


def test_the_words_are_embedded_once_for_all_runs(tmp_path: Path) -> None:
    first, second = CountingEmbedder(), CountingEmbedder()
    words = EmbeddedWords(first, WORDS, tmp_path / "kept")
    expected = [words.neighbours("something", 6) for _ in range(3)][-1]
    assert first.n_texts == len(WORDS) + 3
    assert EmbeddedWords(second, WORDS, tmp_path / "kept").neighbours("something", 6) == expected
    assert second.n_texts == 1 + 4  # the question, and the words that prove that the model is the same
    assert [path.suffix for path in (tmp_path / "kept").iterdir()] == [".npy"]


@pytest.mark.parametrize("other", [CountingEmbedder(turn=0.5), CountingEmbedder(dim=3)])
def test_vectors_of_another_model_by_the_same_name_are_not_used(tmp_path: Path, other: CountingEmbedder) -> None:
    EmbeddedWords(CountingEmbedder(), WORDS, tmp_path).neighbours("king", 1)
    kept = EmbeddedWords(other, WORDS, tmp_path).neighbours("stone", 6)
    assert kept == EmbeddedWords(other, WORDS).neighbours("stone", 6)


def test_other_words_and_other_models_are_kept_apart(tmp_path: Path) -> None:
    for embedder, words in (("a", WORDS), ("b", WORDS), ("a", WORDS[:3])):
        EmbeddedWords(CountingEmbedder(embedder), words, tmp_path).neighbours("king", 1)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("damage", [b"", b"rubbish", b"\x93NUMPY\x01\x00"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    expected = EmbeddedWords(CountingEmbedder(), WORDS, tmp_path).neighbours("king", 6)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage)
    assert EmbeddedWords(CountingEmbedder(), WORDS, tmp_path).neighbours("king", 6) == expected
    assert path.stat().st_size > len(damage)


@pytest.mark.skipif(os.name != "posix", reason="rights of this kind")
@pytest.mark.usefixtures("widest_umask")
def test_what_is_kept_is_its_owner_s_alone_and_says_when_it_was_used(tmp_path: Path) -> None:
    EmbeddedWords(CountingEmbedder(), WORDS, tmp_path / "kept").neighbours("king", 1)
    assert open_to_others(tmp_path / "kept") == []
    (path,) = (tmp_path / "kept").iterdir()
    os.utime(path, (1.0, 1.0))
    EmbeddedWords(CountingEmbedder(), WORDS, tmp_path / "kept").neighbours("king", 1)
    assert path.stat().st_mtime > 1.0


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
