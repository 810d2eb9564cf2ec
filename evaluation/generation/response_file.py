"""Appends responses to a file one whole line at a time, so that a killed run can be resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.json import to_json_line
from factloop.core.files.jsonl import parse_object
from factloop.core.files.lines import open_given
from factloop.core.files.rows import Row
from factloop.evaluation.datasets.longfact import AnyPrompt
from factloop.evaluation.generation.records import GeneratedBy, GeneratedResponse, UnansweredPrompt
from factloop.evaluation.running.log import Log, LogFormat, read_records

Outcome = GeneratedResponse | UnansweredPrompt
"""A prompt without an answer has no line in the file."""

_BEGINNING = b'{"id":"'
"""Every line that factloop writes begins like this."""


def read_responses(path: Path) -> dict[str, GeneratedResponse]:
    """Maps prompt ids to the file's rows, without changing the file. Returns an empty mapping if there is no file.
    Raises ConfigError, with the line number, if the file cannot be read or any line was not written by factloop."""
    try:
        with open_given(path) as file:
            rows = (row for _, row in read_records(file, str(path), _FORMAT))
            return {row.prompt_id: row for row in rows if isinstance(row, GeneratedResponse)}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"cannot read {path} ({error.strerror or error})") from error
    except DataError as error:
        raise _not_ours(error) from error


@contextmanager
def open_responses(
    path: Path, asked: Mapping[str, AnyPrompt], *, system: str, generated_by: GeneratedBy
) -> Iterator[Log[Outcome, str]]:
    """Opens the file for one process at a time, and drops an incomplete last line left by a killed process.

    Raises ConfigError if another process has the file open, or if the file cannot be used. Also raises ConfigError,
    without changing the file, if it contains anything but this system's responses to these prompts with these settings.
    """
    with _held(path):
        try:
            log = Log(path, _FORMAT, check=_refuse_other_runs(path, asked, system, generated_by))
        except DataError as error:
            raise _not_ours(error) from error
        with log:
            yield log


def _fields(line: bytes, name: str, number: int) -> dict[str, Any]:
    try:
        text = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError("this line is not UTF-8", path=name, line=number) from error
    return parse_object(text, name, number)


def _row(line: bytes, name: str, number: int | None) -> GeneratedResponse:
    place = number or 0  # called again once the line is known to be a row
    return Row(name, place, _fields(line, name, place)).read_as(GeneratedResponse)


def _last_row(line: bytes, name: str, number: int) -> GeneratedResponse | None:
    """An editor may have removed the newline at the end of the last line. Returns None if the row is incomplete."""
    try:
        _fields(line, name, number)
    except DataError:
        if line.startswith(_BEGINNING) or _BEGINNING.startswith(line):
            return None
        raise
    return _row(line, name, number)


_FORMAT = LogFormat[Outcome, str](
    name="the responses",
    key=lambda outcome: outcome.prompt_id,
    dump=lambda outcome: to_json_line(outcome).encode() if isinstance(outcome, GeneratedResponse) else b"",
    parse=_row,
    parse_last=_last_row,
    private=False,
)


def _refuse_other_runs(
    path: Path, asked: Mapping[str, AnyPrompt], system: str, generated_by: GeneratedBy
) -> Callable[[Outcome, int], None]:
    model = "model or sampling (--model, --base-url, --temperature, --max-tokens)"
    seen: set[str] = set()

    def check(row: Outcome, number: int) -> None:
        assert isinstance(row, GeneratedResponse)  # only responses have a line
        if row.prompt_id in seen:
            said = f"an earlier line answers the same prompt, {row.prompt_id!r}"
            raise DataError(said, path=str(path), line=number, field="prompt_id")
        seen.add(row.prompt_id)
        wanted = asked.get(row.prompt_id)
        other = [
            name
            for name, differs in (
                ("draw of prompts (--data, --part, --n, --seed)", wanted is None),
                ("wording (--postamble)", wanted is not None and wanted.prompt != row.prompt),
                ("name (--system)", row.system != system),
                (model, row.generated_by != generated_by),
            )
            if differs
        ]
        if other:
            raise ConfigError(
                f"{path} contains responses from a different run, with a different {' and a different '.join(other)}, "
                f"starting at prompt {row.prompt_id!r}; use the same settings or another --out"
            )

    return check


@contextmanager
def _held(path: Path) -> Iterator[None]:
    target = Path(os.path.realpath(path))  # one lock for all links to the same file
    lock = FileLock(target.parent / f".{target.name}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise ConfigError(f"another process is using {path}; wait for it to finish") from error
    except OSError as error:
        raise ConfigError(f"cannot write {path} ({error.strerror or error})") from error
    try:
        yield
    finally:
        lock.release()


def _not_ours(error: DataError) -> ConfigError:
    return ConfigError(f"{error}; --out can resume only a file that factloop wrote, so use another file")
