"""The responses judged so far, a line each: what a run goes on from, and what its summary is made of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Self

from factloop.errors import ConfigError
from factloop.evaluation.runs.reading import parse_judged
from factloop.evaluation.runs.records import JudgedResponse
from factloop.records import MENDABLE


class ReportLog:
    """Judged responses on disk, appended whole. Use as a context manager; one reader or writer at a time."""

    def __init__(self, path: Path | None) -> None:
        """Opens or makes the file; None for one without a name. Drops what is to be judged (again): a line that a
        killed process left unfinished, and responses with claims that failed for a passing reason.

        Raises ConfigError where the file cannot be used, DataError for a line that no version of this wrote.
        """
        self._name = "the reports" if path is None else str(path)
        self.finished: set[str] = set()
        """Ids of the responses that are done."""
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

    def append(self, judged: JudgedResponse) -> None:
        """Keeps one; out of this process when this returns. Raises ConfigError."""
        line = memoryview(judged.model_dump_json(ensure_ascii=True).encode() + b"\n")
        try:
            self._file.seek(0, os.SEEK_END)
            while line:  # past the file's buffer, which would try again to write what found no room
                line = line[os.write(self._file.fileno(), line) :]
        except OSError as error:
            raise self._unusable(error) from error
        self.finished.add(judged.id)

    def __iter__(self) -> Iterator[JudgedResponse]:
        for number, line in self._lines():
            yield parse_judged(line, self._name, number)

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
            judged = parse_judged(line, self._name, number) if line.endswith(b"\n") else None
            if judged is None or judged.id in self.finished or _is_mendable(judged):
                dropped.add(number)
            else:
                self.finished.add(judged.id)
        return dropped

    def _rewrite(self, path: Path, dropped: set[int]) -> None:
        partial = path.with_suffix(".tmp")
        try:
            with partial.open("wb") as kept:
                kept.writelines(line for number, line in self._lines() if number not in dropped)
            os.replace(partial, path)
            self._file.close()
            self._file = _opened(path)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> ConfigError:
        return ConfigError(f"{self._name}: cannot be used ({error.strerror or error})")


def _is_mendable(judged: JudgedResponse) -> bool:
    return any(claim.judgement.unscored_reason in MENDABLE for claim in judged.report.claims)


def _opened(path: Path | None) -> IO[bytes]:
    return TemporaryFile() if path is None else path.open("a+b")
