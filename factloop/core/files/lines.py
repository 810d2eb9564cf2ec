"""Reads the files that the user names. Reads lines one at a time, so a file may be larger than memory."""

from __future__ import annotations

import codecs
import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import IO

from factloop.core.errors import DataError

STANDARD_INPUT = "-"
LONGEST_LINE = 64 * 2**20
"""In bytes. A longer line suggests a file without newlines, and reading it could exhaust the memory."""


_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}  # first, because one begins with UTF-16's mark
_MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def encoding_of(start: bytes) -> str:
    """The encoding indicated by a byte order mark, or UTF-8 if there is none."""
    return next((encoding for mark, encoding in _MARKS.items() if start.startswith(mark)), "utf-8-sig")


def open_given(path: str | Path) -> BufferedReader:
    """Raises OSError for devices and named pipes, which may block forever. A shell's `<(command)` can be opened."""
    if not (os.path.isfile(path) or os.path.isdir(path)) and os.path.exists(os.path.realpath(path)):
        raise OSError("this is a named pipe or a device; pass a file")
    return open(path, "rb")


def read_given(path: str | Path, most: int = -1) -> bytes:
    """Raises DataError if the file cannot be read or has more than `most` bytes."""
    try:
        with open_given(path) as file:
            data = file.read(most + 1 or -1)
            if -1 < most < len(data):
                raise DataError(f"this file has more than {most:,} bytes", path=str(path))
            return data
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise DataError(f"cannot be read ({getattr(error, 'strerror', None) or error})", path=str(path)) from error


def read_lines(place: str | Path, *, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Yields the lines, numbered from 1. Each line includes its line end, "\\n" or "\\r\\n". `-` is standard input.

    A byte order mark is skipped. Raises DataError during iteration if the file cannot be read, or if a line is longer
    than `longest` bytes or is not UTF-8.
    """
    name = place_name(place)
    try:
        with _opened(place) as file:
            number = 0
            while line := file.readline(longest + 1):
                number += 1
                if len(line) > longest:
                    raise DataError(f"this line is longer than {longest:,} bytes; split it", path=name, line=number)
                yield number, _decoded(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line, name, number)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path, or closed standard input
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot be read ({reason})", path=name) from error


def place_name(place: str | Path) -> str:
    return "standard input" if str(place) == STANDARD_INPUT else str(place)


def name_of_data(place: str | Path) -> str:
    """The file's name and part of its hash, or only the name for a pipe. Raises DataError if reading fails."""
    path = Path(place)
    if str(place) == STANDARD_INPUT or not path.is_file():
        return place_name(path.name)
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path=str(place)) from error
    return f"{path.name} (sha256 {digest[:12]})"


def _opened(place: str | Path) -> AbstractContextManager[IO[bytes]]:
    if str(place) != STANDARD_INPUT:
        return open_given(place)
    if sys.stdin is None:  # `<&-` in a shell
        raise ValueError("closed")
    return nullcontext(sys.stdin.buffer)


def _decoded(line: bytes, name: str, number: int) -> str:
    if number == 1 and (encoding := encoding_of(line)) != "utf-8-sig":
        raise DataError(f"this file is {encoding.upper()}; save it as UTF-8", path=name)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte {line[error.start]:#04x} at column {error.start + 1}"
        raise DataError(f"this line is not UTF-8 ({place}); save the file as UTF-8", path=name, line=number) from error
