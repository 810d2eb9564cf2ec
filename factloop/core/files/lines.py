"""Lines of a data set one at a time, as UTF-8 text with their numbers: the file may be larger than memory."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

from factloop.core.errors import DataError

STANDARD_INPUT = "-"
LONGEST_LINE = 64 * 2**20
"""Bytes. A longer line is no row of a data set but a file without line ends, and would fill the memory."""


def read_lines(place: str | Path, *, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Numbered lines from 1, each with its "\\n" or "\\r\\n"; only these end a line. `-` is standard input.

    A byte order mark is passed over. Raises DataError, when it gets there, for a file that cannot be read, a line
    longer than `longest` bytes, and bytes that are not UTF-8.
    """
    name = place_name(place)
    try:
        with _opened(place) as file:
            number = 0
            while line := file.readline(longest + 1):
                number += 1
                if len(line) > longest:
                    raise DataError(f"this line is longer than {longest:,} bytes", path=name, line=number)
                yield number, _decoded(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line, name, number)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path, or standard input that is closed
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot be read ({reason})", path=name) from error


def place_name(place: str | Path) -> str:
    """The file's name in messages."""
    return "standard input" if str(place) == STANDARD_INPUT else str(place)


def _opened(place: str | Path) -> AbstractContextManager[IO[bytes]]:
    if str(place) != STANDARD_INPUT:
        return Path(place).open("rb")
    if sys.stdin is None:  # `<&-` in a shell
        raise ValueError("it is closed")
    return nullcontext(sys.stdin.buffer)


def _decoded(line: bytes, name: str, number: int) -> str:
    if number == 1 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError("this file is UTF-16; save it as UTF-8", path=name)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte {line[error.start]:#04x} at column {error.start + 1}"
        raise DataError(f"this line is not UTF-8 ({place}); save the file as UTF-8", path=name, line=number) from error
