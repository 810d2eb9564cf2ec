"""`factloop labels`: sheets for people, and what their answers come to."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from factloop.core.files.json import to_json
from factloop.evaluation.labels.disagreements import SHEET, DisagreementKey
from factloop.evaluation.runs.calibration import load_calibration
from factloop.reports.downloads import csv_text
from tests.cli.command import Command
from tests.evaluation.runs.finished_runs import judged, summary_of

RESPONSES = [judged(f"p{n}", "snsni?", labels="SNNSSS") for n in range(5)]


def test_disagreements_are_drawn_and_adjudicated(factloop: Command, home: Path) -> None:
    folder = home / "run"
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    (folder / "summary.json").write_text(to_json(summary_of(RESPONSES, kind="factscore")))
    (folder / "reports.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in RESPONSES))
    done = factloop("labels", "disagree", "run", "--out", "sheet.csv", "--key", "key.json", "--n", 10)
    assert (done.code, done.err) == (0, "")
    assert "10 of 15 disagreements among 25 labelled claims" in done.out
    key = DisagreementKey.model_validate_json((home / "key.json").read_bytes())
    rows = list(csv.DictReader(io.StringIO((home / "sheet.csv").read_text(encoding="utf-8"))))
    for row, one in zip(rows, key.disputed, strict=True):
        row["answer"] = "first" if one.judge_is_first else "second"
    (home / "sheet.csv").write_text(csv_text(SHEET, [tuple(row.values()) for row in rows]), encoding="utf-8")
    found = factloop("labels", "adjudicate", "sheet.csv", "--key", "key.json", "--json", "found.json")
    assert found.code == 0
    shown = " ".join(found.out.split())
    assert "Judge right 100.0% [69.2%, 100.0%], 10 of 10" in shown
    assert "76.0% [66.4%, 84.0%], 76 of 100, Wei et al. 2024" in shown
    assert "people $4.00 (assumed, --people-usd" in shown
    assert json.loads((home / "found.json").read_text())["judge_right"] == 10
    assert factloop("labels", "adjudicate", "sheet.csv", "--key", "sheet.csv").code == 2
    assert factloop("labels", "disagree", "run", "--out", "run/summary.json", "--key", "k.json").code == 2


def finished(folder: Path) -> None:
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    (folder / "summary.json").write_text(to_json(summary_of(RESPONSES)))
    (folder / "reports.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in RESPONSES))


def test_labels_are_drawn_filled_in_and_read(factloop: Command, home: Path) -> None:
    """Twenty claims with a verdict of supported or not (ssnn of each response, i and ? left out): eight are drawn."""
    finished(home / "run")
    done = factloop("labels", "next", "run", "--out", "sheet.csv", "--n", 8, "--half-width", 0.2)
    assert (done.code, done.err) == (0, "")
    assert "8 of 20 claims (no labels to learn from)" in done.out
    assert "drawn so give ±0.2 at 95%" in done.out
    rows = list(csv.DictReader(io.StringIO((home / "sheet.csv").read_text(encoding="utf-8"))))
    assert {row["probability"] for row in rows} == {"0.4"}
    for row, label in zip(rows, ("agree", "1", "0", "", "agree", "1", "agree", "0"), strict=True):
        row["label"] = label
    (home / "sheet.csv").write_text(csv_text([*rows[0]], [tuple(row.values()) for row in rows]), encoding="utf-8")
    exported = factloop("labels", "export", "sheet.csv", "--out", "labels.jsonl")
    assert "7 labels in labels.jsonl; 1 row without a label left out" in exported.out
    read = [json.loads(line) for line in (home / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one["label"] for one in read if one["verdict"] == one["label"]]
    assert {one["probability"] for one in read} == {0.4}
    sample = load_calibration(home / "labels.jsonl")
    assert (len(sample.labels), sample.probabilities) == (7, (0.4,) * 7)
    assert sample.systems == frozenset({"one"})
    again = factloop("labels", "next", "run", "--out", "more.csv", "--n", 8, "--labels", "labels.jsonl")
    assert "learnt from 7 labels" in again.out
    audited = factloop("audit", "labels.jsonl", "--json", "audit.json")
    assert audited.code == 0
    tuned = factloop("cascade", "tune", "labels.jsonl", "--out", "cascade.json")
    assert tuned.code in (0, 2)
    assert "labels.jsonl:" not in tuned.err, "every row is read"


def test_sheets_without_labels_are_refused(factloop: Command, home: Path) -> None:
    finished(home / "run")
    assert factloop("labels", "next", "run", "--out", "sheet.csv", "--quiet").code == 0
    assert "no row has a label" in factloop("labels", "export", "sheet.csv", "--out", "labels.jsonl").complaint
    assert "--half-width 2" in factloop("labels", "next", "run", "--out", "s.csv", "--half-width", 2).complaint
