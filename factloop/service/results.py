"""Audits, comparisons, experiments and runs in a folder that the operator named.

Nothing in it is served as it is: what is a report of ours is read, and its page drawn anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Record
from factloop.service.result_kind import ResultKind
from factloop.service.result_kinds import KINDS
from factloop.service.settings import NAME
from factloop.service.shapes import ResultInfo, title_of

LARGEST = 200_000_000
"""Bytes of a file; a larger one is passed over."""
IN_FOLDERS = ("summary.json", "experiment.json", "report.json")
"""The file that stands for a folder."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Result:
    """One report of the folder."""

    info: ResultInfo
    text: str
    """The report as it stands in the file."""
    record: Record
    kind: ResultKind


class ResultFolder:
    """The results in a folder: read on request, and kept while their files do not change. Every method blocks."""

    def __init__(self, folder: Path | None) -> None:
        """Raises ConfigError for a path that is not a folder."""
        if folder is not None and not folder.is_dir():
            raise ConfigError(f"--results {folder}: not a folder")
        self._folder = folder
        self._read: dict[Path, tuple[tuple[int, int], Result | None]] = {}

    def all(self) -> list[ResultInfo]:
        """All results, newest first; those without a date last."""
        found: dict[str, ResultInfo] = {}
        for name, path in self._files():
            if name not in found and (result := self._result(name, path)) is not None:
                found[name] = result.info
        return sorted(found.values(), key=lambda info: (info.created_at is None, -_seconds(info.created_at), info.name))

    def find(self, name: str) -> Result | None:
        """The result of this name in the list: the name is looked up, never made into a path."""
        results = (self._result(of, path) for of, path in self._files() if of == name)
        return next((result for result in results if result is not None), None)

    def _files(self) -> Iterator[tuple[str, Path]]:
        """Names and files; a folder comes after the file of the same name, whose result stands for both."""
        for entry in [] if self._folder is None else _entries(self._folder):
            inside = [entry / name for name in IN_FOLDERS if (entry / name).is_file()]
            path = inside[0] if inside else entry
            name = entry.name if inside else entry.stem
            if (inside or entry.suffix == ".json") and NAME.fullmatch(name) and path.is_file():
                yield name, path

    def _result(self, name: str, path: Path) -> Result | None:
        try:
            state = path.stat()
        except OSError:  # taken away since it was listed
            return None
        version = (state.st_mtime_ns, state.st_size)
        if path not in self._read or self._read[path][0] != version:
            self._read[path] = version, _read(name, path) if state.st_size <= LARGEST else None
        return self._read[path][1]


def _entries(folder: Path) -> list[Path]:
    """The files in the folder; empty if the folder was removed."""
    try:
        return sorted(folder.iterdir(), reverse=True)
    except OSError:
        return []


def _read(name: str, path: Path) -> Result | None:
    """The report; None if the file is not a report of factloop's, has another version, or does not fit together."""
    try:
        text = path.read_text(encoding="utf-8")
        fields = json.loads(text)
        for kind in KINDS:
            needed = {field for field, about in kind.record.model_fields.items() if about.is_required()}
            if isinstance(fields, dict) and needed <= set(fields):
                record = kind.record.model_validate_json(text)
                return Result(_info(name, kind, record), text, record, kind)
    except (OSError, ValueError, LookupError, RecursionError, ValidationError, FactloopError):
        return None
    return None


def _info(name: str, kind: ResultKind, record: Any) -> ResultInfo:
    created_at = getattr(record, "created_at", None)
    return ResultInfo(
        name=name,
        kind=kind.name,
        title=title_of(kind.title(record)),
        created_at=created_at,
        summary=kind.words(record),
        figures=tuple(kind.figures(record)),
    )


def _seconds(moment: datetime | None) -> float:
    """Seconds since the epoch, for any date that can be written; one without a zone is taken for UTC."""
    if moment is None:
        return 0.0
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds()
