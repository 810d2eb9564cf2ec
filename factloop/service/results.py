"""The kinds of reports that the service shows.

Files in the operator's results folder are never served directly. factloop's reports are read, and their pages rendered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport, TrustRun
from factloop.checking.views.shown import render_html
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import FactualityReport, Record
from factloop.reports.figures import headline, main_figure, plural, title_of
from factloop.service.settings import NAME
from factloop.service.shapes import HeadlineFigure, ResultInfo, ResultKind
from factloop.trust.views.html import render_long_form_html, render_trust_html

LARGEST = 200_000_000  # maximum size of a file in bytes; larger files are skipped
IN_FOLDERS = ("summary.json", "experiment.json", "report.json")  # files that can represent a folder, best first
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

HAS_EVALUATION = find_spec("factloop.evaluation") is not None


def _figures_of_check(report: FactualityReport) -> Iterator[HeadlineFigure]:
    name, value, basis = main_figure(report)
    yield HeadlineFigure(name=name, value=value, basis=basis)


def _figures_of_score(report: TrustReport) -> Iterator[HeadlineFigure]:
    score = report.trust_ov
    value = "–" if score.value is None else f"{score.value:.2f}"
    yield HeadlineFigure(name="TrustOV", value=value, basis=f"no value: {score.missing}" if score.missing else "")


def _figures_of_run(run: TrustRun) -> Iterator[HeadlineFigure]:
    summary = run.summary
    for name, score in (("TrustOV", summary.trust_ov), ("TrustBC", summary.trust_bc), ("TrustFC", summary.trust_fc)):
        value = "–" if score.mean is None else f"{score.mean:.2f}"
        basis = f"mean of {plural(score.n_scored, 'answer')}, {score.n_unscored:,} unscored"
        yield HeadlineFigure(name=name, value=value, basis=basis)


def _evaluation_kinds() -> tuple[ResultKind, ...]:
    if not HAS_EVALUATION:
        return ()
    from factloop.service.evaluation import EVALUATION_KINDS

    return EVALUATION_KINDS


KINDS = (
    *_evaluation_kinds(),
    ResultKind(
        "trust",
        TrustRun,
        render_trust_html,
        lambda run: plural(len(run.reports), "answer"),
        lambda run: f"TrustScore of {plural(len(run.reports), 'answer')}",
        _figures_of_run,
    ),
    ResultKind(
        "trust",
        TrustReport,
        render_trust_html,
        lambda one: one.question,
        lambda _: "TrustScore of one answer",
        _figures_of_score,
        is_job=True,
    ),
    ResultKind(
        "long_form",
        LongFormTrustReport,
        render_long_form_html,
        lambda report: report.factuality.prompt or report.factuality.response,
        lambda report: f"TrustScore of {plural(len(report.claims), 'claim')} in a long answer",
        lambda report: _figures_of_check(report.factuality),
        is_job=True,
    ),
    ResultKind(
        "check",
        FactualityReport,
        render_html,
        lambda report: report.prompt or report.response,
        headline,
        _figures_of_check,
        is_job=True,
    ),
)
"""In the order in which they are tried."""


@dataclass(frozen=True)
class Result:
    info: ResultInfo
    text: str
    folder: Path
    record: Record
    kind: ResultKind


class ResultFolder:
    """The results are read on request and cached until their files change. Every method blocks."""

    def __init__(self, folder: Path | None) -> None:
        """Raises ConfigError if the path is not a folder."""
        if folder is not None and not folder.is_dir():
            raise ConfigError(f"--results {folder}: must be a folder")
        self._folder = folder
        self._read: dict[Path, tuple[tuple[int, int], Result | None]] = {}

    def all(self) -> list[ResultInfo]:
        """Newest first. Results without a date come last."""
        found: dict[str, ResultInfo] = {}
        for name, path in self._files():
            if name not in found and (result := self._result(name, path)) is not None:
                found[name] = result.info
        return sorted(found.values(), key=lambda info: (info.created_at is None, -_seconds(info.created_at), info.name))

    def find(self, name: str) -> Result | None:
        """The name is only compared and never used as a path."""
        results = (self._result(of, path) for of, path in self._files() if of == name)
        return next((result for result in results if result is not None), None)

    def _files(self) -> Iterator[tuple[str, Path]]:
        """If a file and a folder share a name, the file comes first and is used for both."""
        entries: list[Path] = []
        with suppress(OSError):  # the folder was removed
            entries = [] if self._folder is None else sorted(self._folder.iterdir(), reverse=True)
        for entry in entries:
            inside = [entry / name for name in IN_FOLDERS if (entry / name).is_file()]
            path = inside[0] if inside else entry
            name = entry.name if inside else entry.stem
            if (inside or entry.suffix == ".json") and NAME.fullmatch(name) and path.is_file():
                yield name, path

    def _result(self, name: str, path: Path) -> Result | None:
        try:
            state = path.stat()
        except OSError:  # the file was removed after it was listed
            return None
        version = (state.st_mtime_ns, state.st_size)
        if path not in self._read or self._read[path][0] != version:
            self._read[path] = version, _read(name, path) if state.st_size <= LARGEST else None
        return self._read[path][1]


def _read(name: str, path: Path) -> Result | None:
    try:
        text = path.read_text(encoding="utf-8")
        fields = json.loads(text)
        for kind in KINDS:
            needed = {field for field, about in kind.record.model_fields.items() if about.is_required()}
            if isinstance(fields, dict) and needed <= set(fields):
                record = kind.record.model_validate_json(text)
                return Result(_info(name, path, kind, record), text, path.parent, record, kind)
    except (OSError, ValueError, LookupError, RecursionError, ValidationError, FactloopError):
        return None
    return None


def _info(name: str, path: Path, kind: ResultKind, record: Any) -> ResultInfo:
    created_at = getattr(record, "created_at", None)
    return ResultInfo(
        name=name,
        kind=kind.name,
        title=title_of(kind.title(record)),
        created_at=created_at,
        summary=kind.words(record),
        figures=tuple(kind.figures(record)),
        is_comparable=kind.name in ("run", "experiment") and path.name in IN_FOLDERS,
    )


def _seconds(moment: datetime | None) -> float:
    if moment is None:
        return 0.0
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds()
