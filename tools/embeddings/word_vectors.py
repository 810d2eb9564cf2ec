"""Word vectors of a word2vec file, mapped from disk: which words are nearest to a word or a name."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Self, cast

import numpy as np
from numpy.typing import NDArray

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.private import make_private_folder, narrow_contents
from factloop.tools.embeddings.nearest import nearest

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
            "not a word2vec file: its first line must be the number of words and of dimensions", path=str(path), line=1
        )
    header = Header(int(match[1]), int(match[2]))
    if not header.n_words or not 0 < header.dimension <= MAX_DIMENSION:
        raise DataError(
            f"not a word2vec file: {header.n_words} words of {header.dimension} dimensions", path=str(path), line=1
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


FORMAT = 1
"""Version of the cached folder; a change of what is written there raises it."""
DEFAULT_MAX_WORDS = 200_000
_BLOCK_ROWS = 4_096
_SAMPLE_BYTES = 1 << 16
_N_SAMPLES = 16

Read = tuple[list[str], NDArray[np.float32]]
"""Words, and their vectors in the same order."""


class WordVectors:
    """Unit vectors by word, the commonest words first, as the file has them. Safe to share between threads.

    A word is found as it is written, or else in another case; several words as one entry where the file has it
    (`New_York`), or else by the mean over those of them that it has.
    """

    def __init__(self, words: Sequence[str], matrix: NDArray[np.float32], identity: str) -> None:
        """`matrix` has shape (len(words), dim) and rows of unit length, or of zeros."""
        self.identity = identity
        self._words = words
        self._matrix = matrix
        self._row_of: dict[str, int] = {}
        self._row_of_folded: dict[str, int] = {}
        for row, word in enumerate(words):
            joined = word.replace(" ", "_")
            self._row_of.setdefault(joined, row)
            self._row_of_folded.setdefault(joined.casefold(), row)

    @classmethod
    def open(cls, path: str | Path, cache_dir: Path | None, max_words: int = DEFAULT_MAX_WORDS) -> Self:
        """The first `max_words` words of a word2vec file: text or binary, plain or gzipped.

        The first time they are written to a folder in `cache_dir` (1.2 KB a word at 300 dimensions; a minute at most
        for 200,000 words), from where they are mapped; with None they are read into memory each time. Raises
        ConfigError where the file is missing or the folder cannot be written, DataError where the file is malformed.
        """
        source = Path(path)
        if max_words < 1:
            raise ConfigError(f"max_words must be at least 1, not {max_words}")
        identity = _identity(source, max_words)
        read = _in_memory(source, max_words) if cache_dir is None else _kept(source, cache_dir, identity, max_words)
        return cls(*read, f"word2vec {identity[:16]}")

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, words: str) -> bool:
        return bool(self._rows(words))

    def neighbours(self, words: str, limit: int) -> list[tuple[str, float]]:
        """At most `limit` entries with their cosine to a word or name, nearest first; empty for an unknown word.

        Spaces stand where the file has underscores. The words asked about are not among them. Reads the whole matrix:
        some 40 ms for 200,000 words of 300 dimensions.
        """
        rows = self._rows(words)
        mean: NDArray[np.float32] = self._matrix[rows].sum(axis=0, dtype=np.float32)
        length = np.linalg.norm(mean)
        if limit < 1 or not length:
            return []
        found = nearest(self._matrix, (mean / length).astype(np.float32), limit + len(rows))
        others = [(self._words[row].replace("_", " "), score) for row, score in found if row not in rows]
        return others[:limit]

    def _rows(self, words: str) -> list[int]:
        parts = words.split()
        whole = self._row("_".join(parts))
        if whole is not None:
            return [whole]
        return [row for row in map(self._row, parts) if row is not None]

    def _row(self, word: str) -> int | None:
        row = self._row_of.get(word)
        return self._row_of_folded.get(word.casefold()) if row is None else row


def _identity(path: Path, max_words: int) -> str:
    """A hash of the size of the file, the time of its last change, and samples from its head to its end."""
    digest = hashlib.sha256(f"{FORMAT} {max_words} ".encode())
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            digest.update(f"{state.st_size} {state.st_mtime_ns} ".encode())
            for sample in range(_N_SAMPLES):
                file.seek(max(0, state.st_size - _SAMPLE_BYTES) * sample // (_N_SAMPLES - 1))
                digest.update(file.read(_SAMPLE_BYTES))
    except OSError as error:
        raise ConfigError(f"cannot read the word vectors in {path}: {error.strerror or error}") from error
    return digest.hexdigest()[:32]


def _kept(path: Path, cache_dir: Path, identity: str, max_words: int) -> Read:
    folder = cache_dir / f"word2vec-{identity}"
    mapped = _mapped(folder)
    if mapped is None:
        _convert(path, folder, max_words)
        mapped = _mapped(folder)
    if mapped is None:
        raise ConfigError(f"the word vectors kept in {folder} cannot be read: remove that folder")
    return mapped


def _in_memory(path: Path, max_words: int) -> Read:
    rows = BytesIO()
    with open_word2vec(path) as (header, pairs):
        words = list(_write_rows(islice(pairs, max_words), rows))
    return words, np.frombuffer(rows.getbuffer(), "<f4").reshape(len(words), header.dimension)


def _mapped(folder: Path) -> Read | None:
    """Words and matrix of a cached folder, which is then in use; None where it is missing or damaged."""
    with suppress(OSError):
        os.utime(folder)
    try:
        words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        matrix = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    if not isinstance(words, list) or matrix.ndim != 2 or len(words) != len(matrix) or matrix.dtype != np.float32:
        return None
    return words, matrix


def _convert(path: Path, folder: Path, max_words: int) -> None:
    """Writes the folder in one step, or not at all; another process may do the same meanwhile."""
    try:
        make_private_folder(folder.parent)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        _write(path, unfinished, max_words)
        if _mapped(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
            narrow_contents(unfinished)
            unfinished.rename(folder)
    except OSError as error:
        if _mapped(folder) is None:  # and not the other process was the first
            raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write(path: Path, folder: Path, max_words: int) -> None:
    with open_word2vec(path) as (header, pairs), (folder / "vectors.npy").open("wb") as file:
        n_words = min(header.n_words, max_words)
        shape = {"descr": "<f4", "fortran_order": False, "shape": (n_words, header.dimension)}
        np.lib.format.write_array_header_1_0(file, shape)
        words = list(_write_rows(islice(pairs, n_words), file))
    (folder / "words.json").write_text(json.dumps(words), encoding="utf-8")


def _write_rows(pairs: Iterator[WordVector], file: IO[bytes]) -> Iterator[str]:
    while block := list(islice(pairs, _BLOCK_ROWS)):
        rows = np.stack([vector for _, vector in block])
        lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
        unit = np.divide(rows, lengths, out=np.zeros(rows.shape), where=lengths > 0)
        file.write(unit.astype("<f4").tobytes())
        yield from (word for word, _ in block)


def _unwritable(folder: Path, error: OSError) -> ConfigError:
    return ConfigError(f"the word vectors cannot be kept in {folder.parent}: {error.strerror or error}")
