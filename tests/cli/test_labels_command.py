"""`factloop labels`: sheets for people, and what their answers come to."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from factloop.core.files.json import to_json
from factloop.evaluation.labels.disagreements import SHEET, DisagreementKey
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
