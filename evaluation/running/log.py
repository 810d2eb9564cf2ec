"""What a run has judged so far, a record a line: what it goes on from, and what its summary is made of."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Generic, Self, TypeVar

from factloop.core.errors import ConfigError
from factloop.core.files.private import open_private
from factloop.core.reasons import MENDABLE
from factloop.core.records import Judgement, Record
from factloop.evaluation.runs.reading import parse_judged
from factloop.evaluation.runs.records import JudgedResponse

R = TypeVar("R", bound=Record)
K = TypeVar("K", bound=Hashable)


class RecordLog(Generic[R, K]):
    """Records on disk, for their owner alone, appended whole. A context manager; one reader or writer at a time."""

    def __init__(
        self,
        path: Path | None,
        *,
        parse: Callable[[bytes, str, int], R],
        key: Callable[[R], K],
        judgements: Callable[[R], Iterable[Judgement]],
        name: str,
    ) -> None:
        """Opens or makes the file; None for one without a name. Drops what is to be judged (again): a line that a
        killed process left unfinished, and records with judgements that failed for a passing reason.

        `parse` reads a line, given its file and number, and raises DataError for one that no version of this wrote;
        `key` tells records apart; `name` is what messages call a log without a file. Raises ConfigError where the file
        cannot be used, DataError as `parse`.
        """
        self._name = name if path is None else str(path)
        self._parse, self._key, self._judgements = parse, key, judgements
        self.finished: set[K] = set()
        """Keys of the records that are there."""
        try:
            self._file = _opened(path)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            if path is not None and (dropped := self._look_through()):
                self._rewrite(path, dropped)
        except BaseException:
            self._file.close()
            raise

    def append(self, record: R) -> None:
        """Keeps one; out of this process when this returns. Raises ConfigError."""
        line = memoryview(record.model_dump_json(ensure_ascii=True).encode() + b"\n")
        try:
            self._file.seek(0, os.SEEK_END)
            while line:  # past the file's buffer, which would try again to write what found no room
                line = line[os.write(self._file.fileno(), line) :]
        except OSError as error:
            raise self._unusable(error) from error
        self.finished.add(self._key(record))

    def __iter__(self) -> Iterator[R]:
        for number, line in self._lines():
            yield self._parse(line, self._name, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        self._file.seek(0)
        yield from enumerate(self._file, 1)

    def _look_through(self) -> set[int]:
        """Notes what is done; returns the numbers of the other lines."""
        dropped = set()
        for number, line in self._lines():
            record = self._parse(line, self._name, number) if line.endswith(b"\n") else None
            if record is None or self._key(record) in self.finished or self._is_mendable(record):
                dropped.add(number)
            else:
                self.finished.add(self._key(record))
        return dropped

    def _is_mendable(self, record: R) -> bool:
        return any(judgement.unscored_reason in MENDABLE for judgement in self._judgements(record))

    def _rewrite(self, path: Path, dropped: set[int]) -> None:
        partial = path.with_suffix(".tmp")
        try:
            with open(partial, "wb", opener=open_private) as kept:
                kept.writelines(line for number, line in self._lines() if number not in dropped)
            os.replace(partial, path)
            self._file.close()
            self._file = _opened(path)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> ConfigError:
        return ConfigError(f"{self._name}: cannot be used ({error.strerror or error})")


class ReportLog(RecordLog[JudgedResponse, str]):
    """The responses of a run with their reports."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(
            path,
            parse=parse_judged,
            key=lambda judged: judged.id,
            judgements=lambda judged: (claim.judgement for claim in judged.report.claims),
            name="the reports",
        )


def _opened(path: Path | None) -> IO[bytes]:
    return TemporaryFile() if path is None else open(path, "a+b", opener=open_private)
