"""The file of predictions while it grows: what a run goes on from, and what the audit reads in the end."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

from pydantic import ValidationError

from factloop.core.errors import ConfigError, DataError
from factloop.core.reasons import MENDABLE
from factloop.evaluation.running.log import Log, LogFormat
from factloop.evaluation.verification.records import Prediction
from factloop.evaluation.verification.spool import key_of, to_line


def open_log(
    path: Path, columns: Sequence[str], keys: Container[bytes], left_out: Container[bytes] = ()
) -> Log[Prediction, bytes]:
    """The predictions at `path`; dropped are rows in which one of `columns` failed for a passing reason.

    Raises ConfigError where the file cannot be used, or holds predictions on claims that are `left_out` now, DataError
    for a line that is no prediction of this run: without one of `columns`, or on a claim that is not among `keys`.
    """

    def parse(line: bytes, name: str, number: int | None) -> Prediction:
        try:
            found = Prediction.model_validate_json(line)
        except ValidationError as error:
            raise DataError("it is not a prediction of this command", path=name, line=number) from error
        for column in columns:
            if (found.evaluators.get(column) is None) != (column in found.unscored):
                raise DataError(f"it has no score of {column!r}", path=name, line=number, field="evaluators")
        return found

    def refuse_stranger(found: Prediction, number: int) -> None:
        if key_of(found) in left_out:
            raise ConfigError(
                f"{path}: line {number} is on a claim beyond --limit: give as high a limit as before, or none"
            )
        if key_of(found) not in keys:
            raise DataError("its claim is not in the input; remove the line", path=str(path), line=number)

    form = LogFormat[Prediction, bytes](
        name="the predictions",
        key=key_of,
        dump=to_line,
        parse=parse,
        is_final=lambda found: not any(found.unscored.get(column) in MENDABLE for column in columns),
        private=False,
    )
    return Log(path, form, check=refuse_stranger)
