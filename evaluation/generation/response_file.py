"""The file that responses are appended to: whole lines, so that a run killed at any time goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from filelock import FileLock, Timeout

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.json import to_json_line
from factloop.core.files.jsonl import parse_object
from factloop.core.files.lines import LONGEST_LINE
from factloop.core.files.rows import Row
from factloop.evaluation.generation.records import GeneratedBy, GeneratedResponse

_BEGINNING = b'{"id":"'
"""Of every line that is written here: what else ends without a line end is somebody else's."""


@dataclass(frozen=True)
class Asked:
    """A prompt as it is put to the model."""

    id: str
    topic: str | None
    text: str


@dataclass(frozen=True)
class Earlier:
    """What a file holds of an earlier start."""

    rows: Mapping[str, GeneratedResponse]
    """By the id of the prompt."""
    end: int
    """Bytes to the end of the last whole row."""
    ends_line: bool
    """Whether that row has its line end: an editor may have taken it."""


def read_earlier(path: Path) -> Earlier:
    """The whole rows of the file, none where there is none. A last line that a kill cut short is passed over.

    Raises ConfigError, naming the line, for anything else that is no row of ours, and where the file cannot be read.
    """
    rows: dict[str, GeneratedResponse] = {}
    end, ends_line = 0, True
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
                row = _row(raw, path, number)
                if row is None:
                    break
                if row.prompt_id in rows:
                    said = f"an earlier line answers the same prompt, {row.prompt_id!r}"
                    raise _not_ours(DataError(said, path=str(path), line=number, field="prompt_id"))
                rows[row.prompt_id] = row
                end, ends_line = end + len(raw), raw.endswith(b"\n")
    except FileNotFoundError:
        pass
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror or error})") from error
    return Earlier(rows, end, ends_line)


def _row(raw: bytes, path: Path, number: int) -> GeneratedResponse | None:
    """The row of one line; None for one that was being written when the process was killed."""
    try:
        fields = parse_object(raw.decode("utf-8").rstrip("\r\n"), str(path), number)
    except (UnicodeDecodeError, DataError) as error:
        if not raw.endswith(b"\n") and (raw.startswith(_BEGINNING) or _BEGINNING.startswith(raw)):
            return None
        said = error if isinstance(error, DataError) else DataError("it is not UTF-8", path=str(path), line=number)
        raise _not_ours(said) from error
    try:
        return Row(str(path), number, fields).read_as(GeneratedResponse)
    except DataError as error:
        raise _not_ours(error) from error


def _not_ours(error: DataError) -> ConfigError:
    return ConfigError(f"{error}; --out goes on only in a file of its own: name another")


def check_same_run(
    path: Path, earlier: Earlier, asked: Mapping[str, Asked], *, system: str, generated_by: GeneratedBy
) -> None:
    """Raises ConfigError where the file is of a run with other prompts, another model or other settings."""
    model = "model or sampling (--model, --base-url, --temperature, --max-tokens)"
    for row in earlier.rows.values():
        wanted = asked.get(row.prompt_id)
        other = [
            name
            for name, differs in (
                ("draw of prompts (--data, --part, --n, --seed)", wanted is None),
                ("wording (--postamble)", wanted is not None and wanted.text != row.prompt),
                ("name (--system)", row.system != system),
                (model, row.generated_by != generated_by),
            )
            if differs
        ]
        if other:
            raise ConfigError(
                f"{path}: holds responses of another run, with another {' and another '.join(other)}, first at prompt "
                f"{row.prompt_id!r}; give the same, or another --out"
            )


class ResponseFile:
    """A file of responses, held by one process at a time. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        target = Path(os.path.realpath(path))  # one lock for all links to a file
        self._lock = FileLock(target.parent / f".{target.name}.lock", timeout=0)
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Raises ConfigError where another process holds it, or it cannot be written."""
        try:
            self._lock.acquire()
        except Timeout as error:
            raise ConfigError(f"{self._path}: another process is at work on this file") from error
        except OSError as error:
            raise self._unwritable(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        self._lock.release()

    def go_on_after(self, earlier: Earlier) -> None:
        """Drops what follows the last whole row, and opens the file to append. Raises ConfigError."""
        try:
            self._file = self._path.open("ab", buffering=0)
            self._file.truncate(earlier.end)
            if not earlier.ends_line:
                self._file.write(b"\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def append(self, row: GeneratedResponse) -> None:
        """Writes one line; with the system when this returns. Raises ConfigError: paying on would be waste."""
        assert self._file is not None, "go_on_after comes first"
        line = memoryview(to_json_line(row).encode())
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> ConfigError:
        return ConfigError(f"{self._path}: cannot be written ({os.strerror(error.errno) if error.errno else error})")
