from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html
from pypdf import PdfReader

from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.rows import load_predictions
from tests.cli.command import Command
from tests.evaluation.verification.world_pairs import read_rows, write_rows

Rows = list[dict[str, Any]]


def row(label: int, score: float | None, system: str, number: int, **fields: Any) -> dict[str, Any]:
    scores = {} if score is None else {"judge": score}
    given = {"dataset": "d", "system": system, "response_id": f"r{number}", "claim_id": f"c{number}", "label": label}
    return {**given, "evaluators": scores, **fields}


def by_hand() -> Rows:
    """System a: 1 of 4 wrong, 2 flagged; b: 2 of 4 wrong, none flagged. Of 5 true claims 4 pass; of 3 false ones 1 is
    flagged.
    """
    marks = {"a": "11 11 10 00", "b": "11 11 01 01"}
    return [
        row(int(mark[0]), float(mark[1]), system, number)
        for system, given in marks.items()
        for number, mark in enumerate(given.split())
    ]


def audited(factloop: Command, path: object, *flags: object) -> AuditReport:
    result = factloop("research", "audit", path, "--resamples", 20, "--json", "-", *flags)
    assert (result.code, result.err) == (0, "")
    return AuditReport.model_validate_json(result.out)


def value_of(report: AuditReport, name: str, at: int = 0) -> float | None:
    found: float | None = getattr(report.at[at].rates[0], name).value
    return found


@pytest.mark.parametrize("file", ["tables.tex", "tables.csv"])
def test_the_tables_that_the_terminal_shows_are_in_a_file(factloop: Command, home: Path, file: str) -> None:
    path = write_rows(home / "predictions.jsonl", by_hand())
    result = factloop("research", "audit", path, "--tables", file, "--resamples", 20)
    written = (home / file).read_text(encoding="utf-8").replace(r"\%", "%")
    titles = [line.strip("─ ") for line in result.out.splitlines() if line.endswith("──")]
    *tables, _ = titles  # the last section tells of the run
    assert (result.code, tables[0], "too few: " in result.out) == (0, "Findings on claims, %", True)  # of four claims
    assert [title for title in tables if title not in written] == []


def test_tables_of_two_thresholds_have_titles_of_their_own(factloop: Command, home: Path) -> None:
    path = write_rows(home / "predictions.jsonl", by_hand())
    factloop("research", "audit", path, "--tables", "t.tex", "--threshold", 0.7, "--resamples", 20, "--quiet")
    titles = re.findall(r"\\caption\{(.+)\}", (home / "t.tex").read_text(encoding="utf-8"))
    assert len(titles) == len(set(titles)) > 6


def test_the_pictures_of_the_page_are_in_files(factloop: Command, home: Path) -> None:
    path = write_rows(home / "predictions.jsonl", by_hand())
    files = ("--tables", "p.svg", "--tables", "p.pdf", "--html", "a.html")
    assert factloop("research", "audit", path, *files, "--resamples", 20, "--quiet").code == 0
    page = html.fromstring((home / "a.html").read_text(encoding="utf-8"))
    alts = [svg.get("aria-label") for svg in page.iter("svg") if svg.get("class") == "picture"]
    drawn = [home / ("p.svg" if number == 1 else f"p-{number}.svg") for number in range(1, len(alts) + 1)]
    assert [etree.parse(file).getroot().get("aria-label") for file in drawn] == alts
    assert len(alts) > 2
    pages = PdfReader(home / "p.pdf").pages
    assert [one["/Annots"][0].get_object()["/Contents"] for one in pages] == alts  # type: ignore[index]


def test_a_report_without_pictures_says_so_when_all_else_is_written(factloop: Command, home: Path) -> None:
    (home / "qa.jsonl").write_text('{"id": "1", "question": "Who?", "response": "Ada Lovelace."}\n')
    (home / "passages.txt").write_text("Ada Lovelace wrote the first program.")
    flags = ("--corpus", "passages.txt", "--tables", "t.svg", "--tables", "t.csv", "--quiet")
    result = factloop("trust", "qa.jsonl", *flags)
    assert (result.code, "cannot write t.svg: this report has no pictures" in result.err) == (2, True)
    written = (home / "t.csv").read_text(encoding="utf-8")
    assert written.startswith("Mean TrustScores")
    assert "TrustScores of each answer" in written
    assert "Who?,Ada Lovelace." in written


def test_figures_on_the_terminal_and_in_files(factloop: Command, home: Path) -> None:
    path = write_rows(home / "predictions.jsonl", by_hand())
    result = factloop("research", "audit", path, "--json", "audit.json", "--html", "audit.html", "--resamples", 20)
    assert (result.code, result.err) == (0, "")
    assert "What each use requires" in result.out
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
    path = write_rows(home / "p.jsonl", rows)
    flags = ("--threshold", 0.7, "--level", 0.9, "--seed", 3)
    report = audited(factloop, path, *flags, "--evaluator", "other")
    assert report.data.evaluators == ("other",)
    assert report.settings.model_dump(mode="json") == {
        "thresholds": [0.5, 0.7],
        "alpha": 0.1,
        "p_adjustment": "none",
        "n_resamples": 20,
        "level": 0.9,
        "seed": 3,
    }
    assert [value_of(report, "tpr", at) for at in (0, 1)] == [1.0, 0.0]


@pytest.fixture
def pairs(home: Path) -> Path:
    rows = [
        {"claim": "Ada Lovelace was born in London.", "document": "Ada Lovelace was born in London.", "label": 1},
        {"claim": "Ada Lovelace died in London in 1872.", "document": "Ada Lovelace was born in London.", "label": 0},
    ]
    return write_rows(home / "pairs.jsonl", [{"system": "s", **row} for row in rows])


def test_pairs_become_predictions(factloop: Command, pairs: Path, home: Path) -> None:
    result = factloop("research", "verify", pairs, "--verifier", "baseline", "--chunk-words", 3, "--out", "out.jsonl")
    assert (result.code, result.err) == (0, "")
    assert "baseline@3" in result.out
    assert "2 pairs (all labelled) in out.jsonl" in result.out
    table = load_predictions(home / "out.jsonl")
    assert sorted(table.scores) == ["baseline", "baseline@3"]
    assert table.scores["baseline"][0] > 0.5 > table.scores["baseline"][1]
    assert table.dataset.names == ("pairs",)


def test_a_data_set_and_a_pipe(factloop: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "w", "claim": "Ada paints.", "evidence": ["Ada paints."], "label": "supported"}
    wice = write_rows(home / "wice_dev.jsonl", [{**row, "supporting_sentences": []}])
    flags = ("--verifier", "baseline", "--quiet", "--out")
    result = factloop("research", "verify", "--dataset", "wice:dev", "--data", wice, *flags, "wice.jsonl")
    assert (result.code, result.out, result.err) == (0, "", "")
    (found,) = read_rows(home / "wice.jsonl")
    assert (found["dataset"], found["task"], found["label"]) == ("wice", "Wikipedia verification", 1)
    (rag := home / "rag").mkdir()
    said = "Ada Lovelace was born in London. Ada Lovelace died in London in 1872."
    row = {"id": "1", "source_id": "7", "model": "m", "split": "test", "quality": "good", "response": said}
    write_rows(rag / "response.jsonl", [{**row, "labels": [{"start": 64, "end": 68, "text": "1872"}]}])
    write_rows(rag / "source_info.jsonl", [{"source_id": "7", "task_type": "QA", "source_info": said[:32]}])
    marked = ("--dataset", "ragtruth:test", "--data", rag, "--json", "run.json", *flags, "rag.jsonl")
    assert factloop("research", "verify", *marked).code == 0
    spans = json.loads((home / "run.json").read_text())["evaluators"][0]["spans"]
    assert spans == {"precision": 4 / 36, "recall": 1.0, "f1": 8 / 40, "n_predicted": 36, "n_marked": 4}
    row = {"text": "Ada paints.", "source": "Ada paints.", "gold": "yes", "set": "d"}
    plain = write_rows(home / "plain.jsonl", [row])
    named = ("claim=text", "document=source", "label=gold", "dataset=set")
    columns = (*(word for one in named for word in ("--column", one)), "--label", "yes=1")
    with plain.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert factloop("research", "verify", "-", *columns, *flags, "piped.jsonl").code == 0
    (found,) = read_rows(home / "piped.jsonl")
    assert (found["claim"], found["document"], found["label"], found["dataset"]) == ("Ada paints.",) * 2 + (1, "d")
