"""The log of a run, with one record per line. It is used to resume the run and to compute the summary."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Generic, Self, TypeVar

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.private import open_private
from factloop.core.reasons import MENDABLE
from factloop.core.records import Judgement

R = TypeVar("R")
K = TypeVar("K", bound=Hashable)

LONGEST_RECORD = 2**30
"""Maximum number of bytes. A longer line cannot be a record of a run."""


@dataclass(frozen=True)
class LogFormat(Generic[R, K]):
    name: str
    key: Callable[[R], K]
    dump: Callable[[R], bytes]
    """Returns a record as a line that ends with a newline, or empty bytes if the record should not be saved."""
    parse: Callable[[bytes, str, int | None], R]
    """Parses a line, given its file and number. Raises DataError if this command did not write the line."""
    is_final: Callable[[R], bool] = lambda _: True
    """False for a record that failed for a temporary reason. Its item is then processed again."""
    parse_last: Callable[[bytes, str, int], R | None] = lambda *_: None
    """Parses a last line without a newline. Returns None if a killed process left it unfinished. Raises DataError."""
    private: bool = True


def _accept(_record: object, _line: int) -> None:
    """Accepts every record."""


class Log(Generic[R, K]):
    """Records on disk, each appended as a whole line. Use as a context manager, with one reader or writer at a time."""

    def __init__(self, path: Path | None, form: LogFormat[R, K], *, check: Callable[[R, int], None] = _accept) -> None:
        """Opens or creates the file, or an unnamed temporary file if `path` is None.

        Drops records that are not final, and an unfinished last line left by a killed process. `check` is called with
        each record and its line number. If it raises an error, the file is left unchanged. Raises ConfigError if the
        file cannot be used, and DataError if a line is not a record.
        """
        self._path, self._format = path, form
        self._name = form.name if path is None else str(path)
        self._places: dict[K, int] = {}
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
        return self._places.keys()

    def append(self, record: R) -> None:
        """Writes one record, which then survives if this process is killed. Raises ConfigError if writing fails."""
        line = memoryview(self._format.dump(record))
        if not line:
            return
        try:
            place = self._file.seek(0, os.SEEK_END)
            while line:  # bypasses the file's buffer, which would retry writing data that did not fit on the disk
                line = line[os.write(self._file.fileno(), line) :]
        except OSError as error:
            raise self._unusable(error) from error
        self._places[self._format.key(record)] = place

    def records(self, keys: Iterable[K]) -> Iterator[R]:
        """Yields the records with these keys, in the same order. Keys without a record are skipped."""
        for key in keys:
            if key in self._places:
                self._file.seek(self._places[key])
                yield self._format.parse(self._file.readline(), self._name, None)

    def put_in_order(self, keys: Iterable[K]) -> None:
        """Sorts the lines by these keys, which must cover all records. Raises ConfigError if writing fails."""
        ordered = {key: self._places[key] for key in keys}
        if any(one > other for one, other in pairwise(ordered.values())):
            self._places = ordered
            self._rewrite()

    def __iter__(self) -> Iterator[R]:
        return self.records(self._places)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _look_through(self, check: Callable[[R, int], None]) -> None:
        """Notes each record's position, and makes sure that the file ends with a complete line."""
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
        try:
            if self._file.seek(0, os.SEEK_END) > end:
                self._file.truncate(end)
            self._file.seek(max(0, end - 1))
            if end and self._file.read(1) != b"\n":
                os.write(self._file.fileno(), b"\n")
        except OSError as error:
            raise self._unusable(error) from error

    def _rewrite(self) -> None:
        assert self._path is not None  # a log without a file starts empty
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
        return ConfigError(f"cannot use {self._name}: {error.strerror or error}")


def read_records(file: IO[bytes], name: str, form: LogFormat[R, Any]) -> Iterator[tuple[bytes, R]]:
    """Yields each line with its record. Skips a last line that a killed process did not finish. Raises DataError if a
    line is not a record."""
    for number, line in enumerate(iter(lambda: file.readline(LONGEST_RECORD + 1), b""), 1):
        if len(line) > LONGEST_RECORD:
            raise DataError(f"this line is longer than {LONGEST_RECORD:,} bytes", path=name, line=number)
        record = (form.parse if line.endswith(b"\n") else form.parse_last)(line, name, number)
        if record is None:
            return
        yield line, record


def no_passing_failure(judgements: Iterable[Judgement]) -> bool:
    """Whether no judgement failed for a temporary reason, which another attempt might avoid."""
    return not any(judgement.unscored_reason in MENDABLE for judgement in judgements)
