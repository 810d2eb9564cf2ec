"""Reads the folder of a finished run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import orjson
from pydantic import ValidationError

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import read_given, read_lines
from factloop.core.records import Claim, FactualityReport, Record, Verdict
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.runs.records import JudgedResponse, RunSummary

DESCRIPTION, SUMMARY, REPORTS = "run.json", "summary.json", "reports.jsonl"
LONGEST_REPORT = 2**30
"""Maximum number of bytes in a line, which holds a response with all its evidence."""

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class FinishedRun(Iterable[JudgedResponse]):
    path: Path
    summary: RunSummary

    def __iter__(self) -> Iterator[JudgedResponse]:
        """Yields the responses of the summary in the order they were judged. Raises DataError at a line that cannot be
        read, or at the end if a response is missing."""
        missing = {line.id for line in self.summary.responses}
        path = self.path / REPORTS
        for number, line in read_lines(path, longest=LONGEST_REPORT):
            judged = parse_judged(line, str(path), number)
            if judged.id in missing:  # an attempt with a higher --limit may have judged more
                missing.remove(judged.id)
                yield judged
        if missing:
            said = f"the report on {sorted(missing)[0]!r}, which {SUMMARY} lists, is missing; start the run again"
            raise DataError(said, path=str(path))


def read_run(path: str | Path) -> FinishedRun:
    """Raises ConfigError if the folder holds no finished run, and DataError if the run is damaged."""
    folder = Path(path)
    summary = folder / SUMMARY
    if not (folder / DESCRIPTION).is_file():
        raise ConfigError(f"{path} is not a run; pass the `--run-dir` of a `factloop eval` command")
    if not summary.is_file():
        if _is_of_experiment(folder / DESCRIPTION):
            raise ConfigError(
                f"{path} is an experiment run, not a `factloop eval` run; `factloop research experiment` compares its "
                f"variants and writes the result to {folder / 'experiment.json'}"
            )
        if (folder / "report.json").is_file():
            raise ConfigError(f"{path} covers a single text; pass a run over a data set, as created by `factloop eval`")
        raise ConfigError(f"{path}: this run has not finished; run the same command again to resume it")
    advice = "start the run again, which costs nothing"
    return FinishedRun(folder, parse_record(read_given(summary), RunSummary, str(summary), None, advice))


def _is_of_experiment(description: Path) -> bool:
    try:
        return "experiment" in json.loads(description.read_bytes())
    except (OSError, ValueError, RecursionError, TypeError):
        return False


def parse_judged(line: str | bytes, path: str, number: int | None) -> JudgedResponse:
    """Parses a line of `reports.jsonl`. Raises DataError if the line is invalid."""
    return parse_record(line, JudgedResponse, path, number, "remove the line and start the run again")


def parse_record(text: str | bytes, kind: type[R], path: str, line: int | None, advice: str) -> R:
    """Parses a record that factloop wrote. Raises DataError with `advice`, or without it if the record was written in
    another format version."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        version = _version(text)
        record: type[Record] = FactualityReport if kind is JudgedResponse else kind
        ours = get_args(getattr(record.model_fields.get("schema_version"), "annotation", None))
        if version is not None and version not in ours:
            reads = " and ".join(map(repr, ours))
            message = f"was written in format {version!r}, but this version of factloop reads only {reads}"
            raise DataError(message, path=path, line=line) from error
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or None
        raise DataError(f"{first['msg']}; {advice}", path=path, line=line, field=place) from error


def _version(text: str | bytes) -> str | None:
    try:
        found: Any = json.loads(text)
        version = found.get("schema_version") or found["report"]["schema_version"]
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return None
    return str(version)


_LABELS = {FactLabel.SUPPORTED: 1, FactLabel.NOT_SUPPORTED: 0}
_VERDICTS: dict[Verdict | None, int] = {Verdict.SUPPORTED: 1, Verdict.NOT_SUPPORTED: 0}


def predictions_of(responses: Iterable[JudgedResponse], *, dataset: str) -> str:
    """Returns the input of an audit (`factloop.evaluation.audit.rows`) as JSON Lines, one line per claim labelled
    supported or not supported.

    The order of the responses does not matter. The evaluators are:
    - the judge, with 1 or 0 for its verdict, or null if it gave no verdict or found the claim irrelevant;
    - `NAME: score`, if the judge gives scores in [0, 1];
    - each model of a jury, with its own verdict.
    """
    ordered = sorted((judged.system, judged.prompt_id, b"".join(_lines(judged, dataset))) for judged in responses)
    return b"".join(lines for _, _, lines in ordered).decode()


def _lines(judged: JudgedResponse, dataset: str) -> Iterator[bytes]:
    name = judged.report.fingerprint.evaluator
    for claim in judged.report.claims:
        label = _LABELS.get(judged.labels[claim.id]) if claim.id in judged.labels else None
        if label is not None:
            row = {
                "dataset": dataset,
                "system": judged.system,
                "response_id": judged.id,
                "prompt_id": judged.prompt_id,
                "claim_id": claim.id,
                "claim": claim.self_contained,
                "label": label,
                "evaluators": _evaluators(name, judged.report.fingerprint.jurors, claim),
            }
            yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _evaluators(name: str, jurors: Sequence[str], claim: Claim) -> dict[str, Any]:
    judgement = claim.judgement
    verdict = _VERDICTS.get(judgement.verdict) if judgement.verdict is not None else None
    scored = verdict is not None and judgement.score is not None
    own = {name: verdict} | ({f"{name}: score": judgement.score} if scored else {})
    said = {vote.judged_by: vote.verdict for vote in judgement.votes}
    return own | {juror: _VERDICTS.get(said.get(juror)) for juror in jurors}
