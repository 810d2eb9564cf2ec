"""The file of predictions while it grows: what a run goes on from, and what the audit reads in the end."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pydantic import ValidationError

from factloop.core.errors import ConfigError, DataError
from factloop.core.reasons import MENDABLE
from factloop.evaluation.verification.records import EvaluatorSummary, Prediction
from factloop.evaluation.verification.spool import key_of, to_line

THRESHOLD = 0.5


class PredictionLog:
    """Predictions on disk, appended in whole lines. Use as a context manager; one process at a time."""

    def __init__(self, path: Path, columns: Collection[str]) -> None:
        """Opens or makes the file, and drops what is to be done (again): a line that a killed process left unfinished,
        and rows in which one of `columns` failed for a passing reason.

        Raises ConfigError where the file cannot be used, DataError for a line that is no prediction of this run.
        """
        self._path, self._columns = path, frozenset(columns)
        self._places: dict[bytes, int] = {}
        """Where the line of each claim starts."""
        try:
            self._file: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise self._unusable(error) from error
        try:
            if dropped := self._look_through():
                self._rewrite([place for place in self._places.values() if place not in dropped])
        except BaseException:
            self._file.close()
            raise

    @property
    def done(self) -> Collection[bytes]:
        """Keys of the claims that have their line."""
        return self._places.keys()

    def refuse_strangers(self, keys: Iterable[bytes]) -> None:
        """Raises DataError for a line on a claim that is not among these: somebody else wrote it."""
        if self._places and (strangers := set(self._places).difference(keys)):
            place = min(self._places[key] for key in strangers)
            self._file.seek(0)
            number = self._file.read(place).count(b"\n") + 1
            raise DataError("its claim is not in the input; remove the line", path=str(self._path), line=number)

    def append(self, predictions: Iterable[Prediction]) -> None:
        """Keeps some more; out of this process when this returns. Raises ConfigError."""
        try:
            place = self._file.seek(0, os.SEEK_END)
            lines = []
            for prediction in predictions:
                lines.append(to_line(prediction))
                self._places[key_of(prediction)] = place
                place += len(lines[-1])
            self._file.write(b"".join(lines))
            self._file.flush()
        except OSError as error:
            raise self._unusable(error) from error

    def put_in_order(self, keys: Iterable[bytes]) -> None:
        """The lines in the order of the input, whatever the attempts at it. Raises ConfigError."""
        places = [self._places[key] for key in keys]
        if any(one > other for one, other in pairwise(places)):
            self._rewrite(places)

    def summaries(self, columns: Sequence[str]) -> tuple[EvaluatorSummary, ...]:
        """How far each column got, in one pass over the file."""
        scored, supported = Counter[str](), Counter[str]()
        reasons: dict[str, Counter[str]] = {name: Counter() for name in columns}
        self._file.seek(0)
        for number, line in enumerate(self._file, 1):
            found = self._parsed(number, line)
            for name in columns:
                score = found.evaluators[name]
                if score is None:
                    reasons[name][found.unscored[name]] += 1
                else:
                    scored[name] += 1
                    supported[name] += score >= THRESHOLD
        return tuple(
            EvaluatorSummary(
                name=name,
                n_scored=scored[name],
                unscored=dict(reasons[name].most_common()),
                share_supported=supported[name] / scored[name] if scored[name] else None,
            )
            for name in columns
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _look_through(self) -> set[int]:
        """Notes where whole lines stand; returns the places of those to be dropped, an unfinished one among them."""
        dropped: set[int] = set()
        self._file.seek(0)
        place = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                dropped.add(place)
                break
            found = self._parsed(number, line)
            self._places[key_of(found)] = place
            if any(found.unscored.get(name) in MENDABLE for name in self._columns):
                dropped.add(place)
            place += len(line)
        return dropped

    def _parsed(self, number: int, line: bytes) -> Prediction:
        try:
            found = Prediction.model_validate_json(line)
        except ValidationError as error:
            raise DataError("it is no prediction of this command", path=str(self._path), line=number) from error
        for name in self._columns:
            if (found.evaluators.get(name) is None) != (name in found.unscored):
                raise DataError(f"it has no score of {name!r}", path=str(self._path), line=number, field="evaluators")
        return found

    def _rewrite(self, places: Sequence[int]) -> None:
        """The lines at these places, in this order, and nothing else."""
        partial = self._path.with_name(f"{self._path.name}.tmp")
        key_at = {place: key for key, place in self._places.items()}
        moved: dict[bytes, int] = {}
        try:
            with partial.open("wb") as kept:
                for place in places:
                    self._file.seek(place)
                    moved[key_at[place]] = kept.tell()
                    kept.write(self._file.readline())
            os.replace(partial, self._path)
            self._file.close()
            self._file = self._path.open("a+b")
        except OSError as error:
            raise self._unusable(error) from error
        self._places = moved

    def _unusable(self, error: OSError) -> ConfigError:
        return ConfigError(f"{self._path}: cannot be used ({error.strerror or error})")
