"""Small word2vec files in every form in which such files are published."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

Vectors = Mapping[str, Sequence[float]]


def as_text(vectors: Vectors) -> bytes:
    lines = [f"{word} {' '.join(f'{number:.8g}' for number in vector)}\n" for word, vector in vectors.items()]
    return (_header(vectors) + "".join(lines)).encode()


def as_binary(vectors: Vectors, *, line_breaks: bool = False) -> bytes:
    """The binary file, with line breaks after each vector as the original tool writes it, or without as in Google's."""
    rows = [
        f"{word} ".encode() + np.asarray(vector, dtype="<f4").tobytes() + b"\n" * line_breaks
        for word, vector in vectors.items()
    ]
    return _header(vectors).encode() + b"".join(rows)


def write(path: Path, content: bytes, *, packed: bool = False) -> Path:
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def _header(vectors: Vectors) -> str:
    return f"{len(vectors)} {len(next(iter(vectors.values())))}\n"
