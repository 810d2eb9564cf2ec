"""Copies input that can be read only once, such as a pipe, to a temporary file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from tempfile import TemporaryFile, gettempdir
from typing import IO

from factloop.core.errors import ConfigError


class TemporaryLines:
    """Lines in an unnamed temporary file, which the system removes even if the process is killed.

    Every method except `close` raises ConfigError if the temporary folder is full or unusable.
    """

    def __init__(self) -> None:
        try:
            self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise _unusable(error) from error

    def append(self, line: bytes) -> None:
        """`line` includes its newline."""
        try:
            self._file.write(line)
        except OSError as error:
            raise _unusable(error) from error

    def __iter__(self) -> Iterator[bytes]:
        """Finish iterating before you append or iterate again."""
        try:
            self._file.seek(0)  # also flushes the buffer
        except OSError as error:
            raise _unusable(error) from error
        yield from self._file

    def close(self) -> None:
        with suppress(OSError):  # the buffer may contain text that did not fit on the disk and is no longer needed
            self._file.close()


def _unusable(error: OSError) -> ConfigError:
    said = f"cannot store the input in {gettempdir()} ({error.strerror or error})"
    return ConfigError(f"{said}; free disk space, or set TMPDIR to another folder")
