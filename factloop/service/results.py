"""Audits, comparisons, experiments and runs in a folder that the operator named.

Nothing in it is served as it is: what is a report of ours is read, and its page drawn anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import FactualityReport, Record
from factloop.core.trust_records import TrustReport, TrustRun
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.experiments.report import ExperimentReport
from factloop.evaluation.runs.reading import SUMMARY
from factloop.evaluation.runs.records import RunSummary
from factloop.reports.figures import plural
from factloop.service.settings import NAME
from factloop.service.shapes import ResultInfo, title_of

LARGEST = 200_000_000
"""Bytes of a file; a larger one is passed over."""
IN_FOLDERS = (SUMMARY, "experiment.json", "report.json")
"""The file that a folder stands for."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ResultKind:
    """One kind of report that can be shown."""

    name: str
    record: type[Record]
    render: Callable[[Any], str]
    title: Callable[[Any], str]
    words: Callable[[Any], str]


@dataclass(frozen=True)
class Result:
    """One report of the folder."""

    info: ResultInfo
    text: str
    """As it stands in the file."""
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
        """Newest first; those without a date last."""
        found = [result.info for name, path in self._files() if (result := self._result(name, path)) is not None]
        return sorted(found, key=lambda info: (info.created_at is None, -_seconds(info.created_at), info.name))

    def find(self, name: str) -> Result | None:
        """By the name that the list gave it: it is looked up, never made into a path."""
        path = dict(self._files()).get(name)
        return None if path is None else self._result(name, path)

    def _files(self) -> Iterator[tuple[str, Path]]:
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
    """The report; None if the file is no report of factloop's, or has another version."""
    try:
        text = path.read_text(encoding="utf-8")
        fields = json.loads(text)
        for kind in KINDS:
            needed = {field for field, about in kind.record.model_fields.items() if about.is_required()}
            if isinstance(fields, dict) and needed <= set(fields):
                record = kind.record.model_validate_json(text)
                return Result(_info(name, kind, record), text, record, kind)
    except (OSError, ValueError, RecursionError, ValidationError, FactloopError):
        return None
    return None


def _info(name: str, kind: ResultKind, record: Any) -> ResultInfo:
    created_at = getattr(record, "created_at", None)
    return ResultInfo(
        name=name, kind=kind.name, title=title_of(kind.title(record)), created_at=created_at, summary=kind.words(record)
    )


def _seconds(moment: datetime | None) -> float:
    """Since the epoch, for any date that can be written; one without a zone is taken for UTC."""
    if moment is None:
        return 0.0
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds()


def _render_audit(report: AuditReport) -> str:
    from factloop.evaluation.audit.views.html import render_audit_html

    return render_audit_html(report)


def _render_run(summary: RunSummary) -> str:
    from factloop.evaluation.runs.views.html import render_run_html

    return render_run_html(summary)


def _render_experiment(report: ExperimentReport) -> str:
    from factloop.evaluation.experiments.views.html import render_experiment_html

    return render_experiment_html(report)


def _render_comparison(comparison: Comparison) -> str:
    from factloop.evaluation.comparing.views.html import render_comparison_html

    return render_comparison_html(comparison)


def _render_trust(run: TrustReport | TrustRun) -> str:
    from factloop.reports.trust.html import render_trust_html

    return render_trust_html(run)


def _render_check(report: FactualityReport) -> str:
    from factloop.reports.check.html import render_html

    return render_html(report)


def _audit_words(report: AuditReport) -> str:
    data = report.data
    return f"{plural(len(data.evaluators), 'evaluator')} on {plural(data.n_claims, 'labelled claim')}"


def _check_words(report: FactualityReport) -> str:
    share = "undefined" if report.precision is None else f"{report.precision:.3f}"
    return f"precision {share} over {plural(report.counts.scored, 'scored claim')}"


KINDS = (
    ResultKind("audit", AuditReport, _render_audit, lambda report: report.data.name, _audit_words),
    ResultKind(
        "run",
        RunSummary,
        _render_run,
        lambda run: run.data,
        lambda run: f"{plural(len(run.responses), 'response')}, judged by {run.fingerprint.judge}",
    ),
    ResultKind(
        "experiment",
        ExperimentReport,
        _render_experiment,
        lambda one: one.name,
        lambda one: f"{plural(len(one.variants), 'variant')} over {plural(one.n_items, 'item')}",
    ),
    ResultKind(
        "comparison",
        Comparison,
        _render_comparison,
        lambda one: f"{one.first.run} and {one.second.run}",
        lambda one: " ".join(one.conclusions[:1]),
    ),
    ResultKind(
        "trust",
        TrustRun,
        _render_trust,
        lambda run: plural(len(run.reports), "answer"),
        lambda run: f"TrustScore of {plural(len(run.reports), 'answer')}",
    ),
    ResultKind("trust", TrustReport, _render_trust, lambda one: one.question, lambda _: "TrustScore of one answer"),
    ResultKind("check", FactualityReport, _render_check, lambda report: report.prompt or report.response, _check_words),
)
"""In the order in which they are tried."""
