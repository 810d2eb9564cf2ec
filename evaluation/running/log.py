"""The log of a run: its records so far, one a line, from which it goes on and from which its summary is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any, Generic, Self, TypeVar

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.private import open_private
from factloop.core.reasons import MENDABLE
from factloop.core.records import Judgement

R = TypeVar("R")
K = TypeVar("K", bound=Hashable)

LONGEST_RECORD = 2**30
"""Bytes. A longer line is no record of a run."""


@dataclass(frozen=True)
class LogFormat(Generic[R, K]):
    """How a feature writes its records."""

    name: str
    """What messages call a log without a file."""
    key: Callable[[R], K]
    """The key that tells records apart."""
    dump: Callable[[R], bytes]
    """Makes the line of a record, with its end; nothing for one that is not kept."""
    parse: Callable[[bytes, str, int | None], R]
    """Reads a line, given its file and number. Raises DataError for one that this command did not write."""
    is_final: Callable[[R], bool] = lambda _: True
    """Whether a record stays. The others failed for a passing reason, and are made again."""
    parse_last: Callable[[bytes, str, int], R | None] = lambda *_: None
    """Reads a last line without an end; None for one that a killed process left unfinished. Raises DataError."""
    private: bool = True
    """Whether the file is its owner's alone."""


def _accept(_record: object, _line: int) -> None:
    """Takes every record."""


class Log(Generic[R, K]):
    """Records on disk, appended whole. A context manager; one reader or writer at a time."""

    def __init__(self, path: Path | None, form: LogFormat[R, K], *, check: Callable[[R, int], None] = _accept) -> None:
        """Opens or makes the file; None for one without a name. Drops what is to be made (again): a line that a killed
        process left unfinished, and records that are not final.

        `check` sees each record with the number of its line, and may refuse it by an error: the file then stays as it
        was. Raises ConfigError where the file cannot be used, DataError for a line that is no record.
        """
        self._path, self._format = path, form
        self._name = form.name if path is None else str(path)
        self._places: dict[K, int] = {}
        """The start of each record's line, in the order of the file."""
        try:
            self._file = self._opened()
        except OSError as error:
            raise self._unusable(error) from error
        with ExitStack() as on_error:
            on_error.callback(self._file.close)
            self._look_through(check)
            on_error.pop_all()

    @property
    def finished(self) -> Collection[K]:
        """Keys of the records that are there."""
        return self._places.keys()

    def append(self, record: R) -> None:
        """Keeps one record; it is out of this process when this returns. Raises ConfigError."""
        line = memoryview(self._format.dump(record))
        if not line:
            return
        try:
            place = self._file.seek(0, os.SEEK_END)
            while line:  # past the file's buffer, which would try again to write what found no room
                line = line[os.write(self._file.fileno(), line) :]
        except OSError as error:
            raise self._unusable(error) from error
        self._places[self._format.key(record)] = place

    def records(self, keys: Iterable[K]) -> Iterator[R]:
        """The records under these keys, in their order, as far as they are there."""
        for key in keys:
            if key in self._places:
                self._file.seek(self._places[key])
                yield self._format.parse(self._file.readline(), self._name, None)

    def put_in_order(self, keys: Iterable[K]) -> None:
        """The lines in the order of these keys, which are those of all records. Raises ConfigError."""
        ordered = {key: self._places[key] for key in keys}
        if any(one > other for one, other in pairwise(ordered.values())):
            self._places = ordered
            self._rewrite()

    def __iter__(self) -> Iterator[R]:
        return self.records(self._places)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _look_through(self, check: Callable[[R, int], None]) -> None:
        """Notes where records stand, and makes the file end with a whole line."""
        end, some_go = 0, False
        self._file.seek(0)
        for number, (line, record) in enumerate(read_records(self._file, self._name, self._format), 1):
            check(record, number)
            key = self._format.key(record)
            if key not in self._places and self._format.is_final(record):
                self._places[key] = end
            else:
                some_go = True
            end += len(line)
        if some_go:
            self._rewrite()
        else:
            self._end_at(end)

    def _end_at(self, end: int) -> None:
        """Drops what a killed process left after this place, and gives the last line its end."""
        try:
            if self._file.seek(0, os.SEEK_END) > end:
                self._file.truncate(end)
            self._file.seek(max(0, end - 1))
            if end and self._file.read(1) != b"\n":
                os.write(self._file.fileno(), b"\n")
        except OSError as error:
            raise self._unusable(error) from error

    def _rewrite(self) -> None:
        """Writes the records that have a place, in that order, and nothing else."""
        assert self._path is not None  # one without a name begins empty
        partial = self._path.with_name(f"{self._path.name}.tmp")
        moved: dict[K, int] = {}
        try:
            with open(partial, "wb", opener=self._opener) as kept:
                for key, place in self._places.items():
                    self._file.seek(place)
                    moved[key] = kept.tell()
                    kept.write(self._file.readline().rstrip(b"\n") + b"\n")
            os.replace(partial, self._path)
            self._file.close()
            self._file = self._opened()
        except OSError as error:
            raise self._unusable(error) from error
        self._places = moved

    @property
    def _opener(self) -> Callable[[str, int], int] | None:
        return open_private if self._format.private else None

    def _opened(self) -> IO[bytes]:
        return TemporaryFile() if self._path is None else open(self._path, "a+b", opener=self._opener)

    def _unusable(self, error: OSError) -> ConfigError:
        return ConfigError(f"{self._name}: cannot be used ({error.strerror or error})")


def read_records(file: IO[bytes], name: str, form: LogFormat[R, Any]) -> Iterator[tuple[bytes, R]]:
    """The lines of a log with their records, to the end or to a line that a killed process left unfinished.

    Raises DataError for a line that is no record.
    """
    for number, line in enumerate(iter(lambda: file.readline(LONGEST_RECORD + 1), b""), 1):
        if len(line) > LONGEST_RECORD:
            raise DataError(f"this line is longer than {LONGEST_RECORD:,} bytes", path=name, line=number)
        record = (form.parse if line.endswith(b"\n") else form.parse_last)(line, name, number)
        if record is None:
            return
        yield line, record


def no_passing_failure(judgements: Iterable[Judgement]) -> bool:
    """Whether no failure among these is one that another attempt may not meet."""
    return not any(judgement.unscored_reason in MENDABLE for judgement in judgements)
