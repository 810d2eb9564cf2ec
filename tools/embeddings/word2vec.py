"""Reads word2vec's two file formats, text and binary, plain or gzipped, one word at a time."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from factloop.core.errors import ConfigError, DataError

MAX_DIMENSION = 10_000
"""Files that claim more are taken for something else."""
MAX_WORD_BYTES = 4_096
_BYTES_A_NUMBER = 40
"""Room for one number of a text file; a longer line is no line of vectors."""
_BLOCK_BYTES = 1 << 18

WordVector = tuple[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of either format."""

    n_words: int
    dimension: int


@contextmanager
def open_word2vec(path: Path) -> Iterator[tuple[Header, Iterator[WordVector]]]:
    """The header of the file, and its words with their vectors as they come; the format is told by the contents.

    Raises ConfigError where there is no readable file, DataError (also while the words are read) where the file is
    malformed, cut short or something else.
    """
    with _reading(path):
        file = _open(path)
    with file:
        with _reading(path):
            header = _header(file, path)
        yield header, _read_words(file, header, path)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"the gzip file is damaged or cut short: {error}", path=str(path)) from error
    except OSError as error:
        raise ConfigError(f"cannot read the word vectors in {path}: {error.strerror or error}") from error


def _read_words(file: IO[bytes], header: Header, path: Path) -> Iterator[WordVector]:
    with _reading(path):
        yield from _words(file, header, path)


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path, "rb")) if packed else path.open("rb")


def _header(file: IO[bytes], path: Path) -> Header:
    line = file.readline(100)
    match = re.fullmatch(rb"(\d{1,12}) (\d{1,12})[ \t]*\r?\n", line)
    if match is None:
        raise DataError(
            "no word2vec file: its first line must be the number of words and of dimensions", path=str(path), line=1
        )
    header = Header(int(match[1]), int(match[2]))
    if not header.n_words or not 0 < header.dimension <= MAX_DIMENSION:
        raise DataError(
            f"no word2vec file: {header.n_words} words of {header.dimension} dimensions", path=str(path), line=1
        )
    return header


def _words(file: IO[bytes], header: Header, path: Path) -> Iterator[WordVector]:
    first = file.readline(MAX_WORD_BYTES + header.dimension * _BYTES_A_NUMBER)
    read = _text_words if _vector_of_line(first, header.dimension) is not None else _binary_words
    number = 0
    for word, vector in read(first, file, header, path):
        number += 1
        if not np.isfinite(vector).all():
            raise DataError(
                f"word {number} ({word!r}) has a vector with an infinite or undefined value", path=str(path)
            )
        yield word, vector
    if number < header.n_words:
        raise DataError(f"the file ends after {number} of {header.n_words} words", path=str(path))


def _text_words(first: bytes, file: IO[bytes], header: Header, path: Path) -> Iterator[WordVector]:
    line = first
    for number in range(1, header.n_words + 1):
        if not line:
            return
        found = _vector_of_line(line, header.dimension)
        if found is None:
            raise DataError(
                f"word {number} is not followed by {header.dimension} numbers", path=str(path), line=number + 1
            )
        yield found
        line = file.readline(MAX_WORD_BYTES + header.dimension * _BYTES_A_NUMBER)


def _vector_of_line(line: bytes, dimension: int) -> WordVector | None:
    """The word and vector of a line of text; None for a line of something else. The word may hold spaces."""
    parts = line.rstrip().rsplit(b" ", dimension)
    if len(parts) != dimension + 1 or not parts[0]:
        return None
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as such
            return _decoded(parts[0]), np.array([float(part) for part in parts[1:]]).astype(np.float32)
    except ValueError:
        return None


def _binary_words(first: bytes, file: IO[bytes], header: Header, path: Path) -> Iterator[WordVector]:
    """Reads each word up to a space, then its numbers as little-endian floats, and a line break if there is one."""
    size = header.dimension * 4
    block, at = first, 0
    for number in range(1, header.n_words + 1):
        while (space := block.find(b" ", at)) < 0 or len(block) < space + 1 + size:
            if space < 0 and len(block) - at > MAX_WORD_BYTES:
                raise DataError(f"word {number} has no end", path=str(path))
            more = file.read(_BLOCK_BYTES)
            if not more and block[at:].strip():
                raise DataError(f"word {number} of {header.n_words} is cut short", path=str(path))
            if not more:
                return
            block, at = block[at:] + more, 0
        word = block[at:space].lstrip(b"\r\n")
        if not word or len(word) > MAX_WORD_BYTES:
            raise DataError(f"word {number} is empty or has no end", path=str(path))
        at = space + 1 + size
        yield _decoded(word), np.frombuffer(block, "<f4", header.dimension, offset=space + 1).astype(np.float32)


def _decoded(word: bytes) -> str:
    return word.decode("utf-8", "replace")
