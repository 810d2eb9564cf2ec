"""Word vectors from files: every format gives the same neighbours as brute force, and a bad file names itself."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from factloop.core.errors import ConfigError, DataError
from factloop.tools.embeddings.nearest import nearest
from factloop.tools.embeddings.word_vectors import WordVectors
from tests.rights import open_to_others
from tests.tools.embeddings.word2vec_files import Vectors, as_binary, as_text, write

# Unit vectors in the plane at 0, 30, 60, 90 and 180 degrees, stretched: length must not matter.
PLANE: Vectors = {
    "king": (2.0, 0.0),
    "Queen": (3**0.5, 1.0),
    "New_York": (1.0, 3**0.5),
    "city": (0.0, 5.0),
    "nothing": (-1.0, 0.0),
}
RANDOM: Vectors = {
    f"word{row}": vector for row, vector in enumerate(np.random.default_rng(5).standard_normal((300, 24)).tolist())
}
FORMS: dict[str, Callable[[Vectors], bytes]] = {
    "text": as_text,
    "binary": as_binary,
    "binary with line breaks": lambda vectors: as_binary(vectors, line_breaks=True),
}


def opened(tmp_path: Path, content: bytes, *, packed: bool = False, max_words: int = 1_000) -> WordVectors:
    return WordVectors.open(write(tmp_path / "vectors.bin", content, packed=packed), tmp_path / "cache", max_words)


def test_a_word_may_hold_a_space(tmp_path: Path) -> None:
    vectors = opened(tmp_path, as_text({"king": (1.0, 0.0), "city hall": (0.5, 0.5), "hall": (0.0, 1.0)}))
    assert dict(vectors.neighbours("city hall", 2)) == pytest.approx({"king": 0.5**0.5, "hall": 0.5**0.5})


@pytest.mark.parametrize("form", FORMS)
def test_only_the_first_words_are_kept(tmp_path: Path, form: str) -> None:
    content = FORMS[form](PLANE)
    vectors = opened(tmp_path, content[: len(content) - 3], max_words=3)  # what comes later is not looked at
    assert len(vectors) == 3
    assert "city" not in vectors


def test_without_a_cache_they_are_read_into_memory(tmp_path: Path) -> None:
    for content, max_words in ((as_binary(PLANE), 1_000), (as_text(PLANE), 3)):
        kept = opened(tmp_path, content, max_words=max_words)
        read = WordVectors.open(tmp_path / "vectors.bin", None, max_words)
        assert (len(read), read.identity) == (len(kept), kept.identity)
        assert read.neighbours("king", 4) == kept.neighbours("king", 4)
    assert {path.name for path in tmp_path.iterdir()} == {"vectors.bin", "cache"}
    with pytest.raises(DataError, match="first line"):
        WordVectors.open(write(tmp_path / "bad.bin", b"no vectors"), None)


@pytest.mark.skipif(os.name != "posix", reason="rights of this kind")
@pytest.mark.usefixtures("widest_umask")
def test_what_is_kept_is_its_owner_s_alone_and_says_when_it_was_used(tmp_path: Path) -> None:
    opened(tmp_path, as_binary(PLANE))
    assert open_to_others(tmp_path / "cache") == []
    (folder,) = (tmp_path / "cache").iterdir()
    os.utime(folder, (1.0, 1.0))
    WordVectors.open(tmp_path / "vectors.bin", tmp_path / "cache", 1_000)
    assert folder.stat().st_mtime > 1.0


@pytest.mark.parametrize("name", ["vectors.npy", "words.json"])
@pytest.mark.parametrize("damage", [b"", b"[]", b"\x93NUMPY rubbish"])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, name: str, damage: bytes) -> None:
    expected = opened(tmp_path, as_binary(PLANE)).neighbours("king", 4)
    (folder,) = (tmp_path / "cache").iterdir()
    (folder / name).write_bytes(damage)
    assert WordVectors.open(tmp_path / "vectors.bin", tmp_path / "cache", 1_000).neighbours("king", 4) == expected


BINARY, TEXT = as_binary(PLANE), as_text(PLANE)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "first line"),
        (b"king 0.1 0.2\nqueen 0.1 0.3\n", "first line"),
        (b"\x93NUMPY\x01\x00", "first line"),
        (b"<!DOCTYPE html><html></html>\n", "first line"),
        (b"5 0\n", "dimensions"),
        (b"0 300\n", "0 words"),
        (b"5 999999999\n", "dimensions"),
        (b"5 2\n", "after 0 of 5 words"),
        (TEXT[:-20], "word 4 is not followed by 2 numbers"),
        (TEXT.replace(b"New_York 1", b"New_York x"), "word 3"),
        (TEXT.replace(b"city 0", b"city"), "word 4"),
        (TEXT.replace(b"Queen 1.7320508", b"Queen nan"), "word 2"),
        (TEXT.replace(b"Queen 1.7320508", b"Queen 1e300"), "word 2"),
        (BINARY[:-1], "word 5 of 5 is cut short"),
        (BINARY[:-10], "word 5"),
        (BINARY[: BINARY.index(b"Queen") + 3], "word 2 of 5 is cut short"),
        (BINARY[: BINARY.index(b"Queen")], "after 1 of 5 words"),
        (as_binary({"king": (1.0, float("nan"))}), "word 1"),
        (b"2 2\n" + b"\xff" * 20_000, "word 1 has no end"),
        (b"2 2\n" + b" \0\0\0\0\0\0\0\0", "word 1 is empty"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path: Path, content: bytes, says: str, packed: bool) -> None:
    with pytest.raises(DataError, match=says) as caught:
        opened(tmp_path, content, packed=packed)
    assert "vectors.bin" in str(caught.value)
    assert not list((tmp_path / "cache").iterdir())


def test_a_gzip_file_cut_short_is_named(tmp_path: Path) -> None:
    whole = gzip.compress(as_binary(RANDOM))
    with pytest.raises(DataError, match=r"vectors\.bin: the gzip file is damaged or cut short"):
        opened(tmp_path, whole[: len(whole) // 2])


def test_a_missing_file_a_folder_and_a_cache_that_is_a_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        WordVectors.open(tmp_path / "nowhere.bin", tmp_path / "cache")
    with pytest.raises(ConfigError, match=os.path.basename(tmp_path)):
        WordVectors.open(tmp_path, tmp_path / "cache")
    vectors = write(tmp_path / "vectors.bin", as_binary(PLANE))
    with pytest.raises(ConfigError, match="cannot be kept"):
        WordVectors.open(vectors, vectors)
    with pytest.raises(ConfigError, match="max_words"):
        WordVectors.open(vectors, tmp_path / "cache", 0)


@given(
    arrays(np.float32, st.tuples(st.integers(0, 12), st.just(3)), elements=st.floats(-1, 1, width=32)),
    st.integers(0, 14),
)
def test_the_nearest_rows_are_those_of_a_full_sort(matrix: np.typing.NDArray[np.float32], limit: int) -> None:
    query = np.array([0.5, -0.25, 1.0], dtype=np.float32)
    scores = (matrix @ query).tolist()
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:limit]
    assert [row for row, _ in nearest(matrix, query, limit)] == expected
