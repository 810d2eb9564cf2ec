"""Lines on disk for the time of a run: an input that is read once, checked, and then gone through from there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from tempfile import TemporaryFile, gettempdir
from typing import IO

from factloop.core.errors import ConfigError


class TemporaryLines:
    """Lines in a file without a name, which the system removes even after a kill.

    All methods but `close` raise ConfigError where the temporary folder cannot be used or has no room left.
    """

    def __init__(self) -> None:
        try:
            self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise _unusable(error) from error

    def append(self, line: bytes) -> None:
        """Keeps a line, with the line end that it has."""
        try:
            self._file.write(line)
        except OSError as error:
            raise _unusable(error) from error

    def __iter__(self) -> Iterator[bytes]:
        """The lines from the first. One reader at a time, and none while lines are added."""
        try:
            self._file.seek(0)  # writes what was buffered
        except OSError as error:
            raise _unusable(error) from error
        yield from self._file

    def close(self) -> None:
        with suppress(OSError):  # the buffer may still hold text that did not fit on the disk and is no longer needed
            self._file.close()


def _unusable(error: OSError) -> ConfigError:
    return ConfigError(f"{gettempdir()}: cannot store the input during the run ({error.strerror or error})")
