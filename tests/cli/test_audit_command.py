"""`factloop research audit`: from a file of labelled claims with scores to advice, tables, JSON and a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from factloop.evaluation.audit.report import AuditReport
from tests.cli.command import Command

Rows = list[dict[str, Any]]


def row(label: int, score: float | None, system: str, number: int, **fields: Any) -> dict[str, Any]:
    scores = {} if score is None else {"judge": score}
    given = {"dataset": "d", "system": system, "response_id": f"r{number}", "claim_id": f"c{number}", "label": label}
    return {**given, "evaluators": scores, **fields}


def by_hand() -> Rows:
    """a: 1 of 4 wrong, 2 flagged; b: 2 of 4 wrong, none flagged. Of 5 that hold 4 pass, of 3 that do not 1 stops."""
    marks = {"a": "11 11 10 00", "b": "11 11 01 01"}
    return [
        row(int(mark[0]), float(mark[1]), system, number)
        for system, given in marks.items()
        for number, mark in enumerate(given.split())
    ]


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")
    return path


def audited(factloop: Command, path: object, *flags: object) -> AuditReport:
    """The report that goes to standard output, alone there, in strict JSON."""
    result = factloop("research", "audit", path, "--resamples", 20, "--json", "-", *flags)
    assert (result.code, result.err) == (0, "")
    return AuditReport.model_validate_json(result.out)


def value_of(report: AuditReport, name: str, at: int = 0) -> float | None:
    found: float | None = getattr(report.at[at].rates.rates[0], name).value
    return found


@pytest.mark.parametrize("file", ["tables.tex", "tables.csv"])
def test_the_tables_that_the_terminal_shows_are_in_a_file(factloop: Command, home: Path, file: str) -> None:
    path = write(home / "predictions.jsonl", by_hand())
    result = factloop("research", "audit", path, "--tables", file, "--resamples", 20)
    written = (home / file).read_text(encoding="utf-8").replace(r"\%", "%")
    titles = [line.strip("─ ") for line in result.out.splitlines() if line.endswith("──")]
    *tables, _ = titles  # the last section tells of the run
    assert (result.code, len(tables) > 3) == (0, True)
    assert [title for title in tables if title not in written] == []


def test_figures_on_the_terminal_and_in_files(factloop: Command, home: Path) -> None:
    path = write(home / "predictions.jsonl", by_hand())
    result = factloop("research", "audit", path, "--json", "audit.json", "--html", "audit.html", "--resamples", 20)
    assert (result.code, result.err) == (0, "")
    assert "filter single claims" in " ".join(result.out.split())
    assert "predictions.jsonl (sha256 " in result.out
    report = AuditReport.model_validate_json((home / "audit.json").read_text(encoding="utf-8"))
    assert [value_of(report, name) for name in ("tpr", "tnr")] == pytest.approx([4 / 5, 1 / 3])
    biases = {one.system: one.bias.value for one in report.at[0].quantification.systems[:2]}
    assert biases == {"a": 0.25, "b": -0.5}
    assert (home / "audit.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    quiet = factloop("research", "audit", path, "--quiet", "--json", "again.json", "--resamples", 20)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    again = AuditReport.model_validate_json((home / "again.json").read_text(encoding="utf-8"))
    assert again.model_copy(update={"created_at": report.created_at}) == report


def test_flags_reach_the_report(factloop: Command, home: Path) -> None:
    rows = [{**one, "evaluators": {**one["evaluators"], "other": 0.6}} for one in by_hand()]
    path = write(home / "p.jsonl", rows)
    flags = ("--threshold", 0.7, "--p-adjustment", "holm", "--level", 0.9, "--seed", 3)
    report = audited(factloop, path, *flags, "--evaluator", "other")
    assert report.data.evaluators == ("other",)
    assert report.settings.model_dump(mode="json") == {
        "thresholds": [0.5, 0.7],
        "alpha": 0.1,
        "p_adjustment": "holm",
        "n_resamples": 20,
        "level": 0.9,
        "seed": 3,
    }
    assert [value_of(report, "tpr", at) for at in (0, 1)] == [1.0, 0.0]
