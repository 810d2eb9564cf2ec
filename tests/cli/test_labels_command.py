"""`factloop research labels`: sheets for people, and what their answers come to."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from factloop.core.files.json import to_json
from factloop.core.records import FactualityReport
from factloop.evaluation.labels.disagreements import SHEET, DisagreementKey
from factloop.evaluation.runs.calibration import load_calibration
from factloop.reports.downloads import csv_text
from factloop.reports.labels import GivenLabel, LabelFile, PersonLabel, claims_to_label, hash_of
from tests.cli.command import Command
from tests.evaluation.runs.finished_runs import judged, summary_of
from tests.reports.html_page import Page

RESPONSES = [judged(f"p{n}", "snsni?", labels="SNNSSS") for n in range(5)]


def test_disagreements_are_drawn_and_adjudicated(factloop: Command, home: Path) -> None:
    folder = home / "run"
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    (folder / "summary.json").write_text(to_json(summary_of(RESPONSES, kind="factscore")))
    (folder / "reports.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in RESPONSES))
    done = factloop("research", "labels", "disagree", "run", "--out", "sheet.csv", "--key", "key.json", "--n", 10)
    assert (done.code, done.err) == (0, "")
    assert "10 of 15 disagreements among 25 labelled claims" in done.out
    key = DisagreementKey.model_validate_json((home / "key.json").read_bytes())
    rows = list(csv.DictReader(io.StringIO((home / "sheet.csv").read_text(encoding="utf-8"))))
    for row, one in zip(rows, key.disputed, strict=True):
        row["answer"] = "first" if one.judge_is_first else "second"
    (home / "sheet.csv").write_text(csv_text(SHEET, [tuple(row.values()) for row in rows]), encoding="utf-8")
    found = factloop("research", "labels", "adjudicate", "sheet.csv", "--key", "key.json", "--json", "found.json")
    assert found.code == 0
    shown = " ".join(found.out.split())
    assert "Judge right 100.0% [69.2%, 100.0%], 10 of 10" in shown
    assert "76.0% [66.4%, 84.0%], 76 of 100, Wei et al. 2024" in shown
    assert "people $4.00 (assumed" in shown
    assert json.loads((home / "found.json").read_text())["judge_right"] == 10
    assert factloop("research", "labels", "adjudicate", "sheet.csv", "--key", "sheet.csv").code == 2
    page = factloop("research", "labels", "disagree", "run", "--html", "page.html", "--key", "page.key", "--n", 3)
    assert "3 of 15 disagreements among 25 labelled claims: answer on the page page.html" in page.out
    assert (home / "page.html").read_text(encoding="utf-8").count("First: <b>") == 3
    assert (
        "--html for a page to answer on"
        in factloop("research", "labels", "disagree", "run", "--key", "k.json").complaint
    )
    assert factloop("research", "labels", "disagree", "run", "--out", "run/summary.json", "--key", "k.json").code == 2


def finished(folder: Path) -> None:
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    (folder / "summary.json").write_text(to_json(summary_of(RESPONSES)))
    (folder / "reports.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in RESPONSES))


def test_labels_are_drawn_filled_in_and_read(factloop: Command, home: Path) -> None:
    """Twenty claims with a verdict of supported or not (ssnn of each response, i and ? left out): eight are drawn."""
    finished(home / "run")
    done = factloop("research", "labels", "next", "run", "--out", "sheet.csv", "--n", 8, "--half-width", 0.3)
    assert (done.code, done.err) == (0, "")
    assert "8 of 20 claims (no labels to learn from)" in done.out
    assert "About 13 labels drawn so give ±0.3 at 95%, as far as can be told without labels to learn from." in done.out
    narrow = factloop("research", "labels", "next", "run", "--out", "no.csv", "--half-width", 0.2)
    assert "one: no number of labels gives ±0.2. With all of its 20 claims labelled it is about ±0.23" in narrow.out
    rows = list(csv.DictReader(io.StringIO((home / "sheet.csv").read_text(encoding="utf-8"))))
    assert {row["probability"] for row in rows} == {"0.4"}
    for row, label in zip(rows, ("agree", "1", "0", "", "agree", "1", "agree", "0"), strict=True):
        row["label"] = label
    (home / "sheet.csv").write_text(csv_text([*rows[0]], [tuple(row.values()) for row in rows]), encoding="utf-8")
    exported = factloop("research", "labels", "export", "sheet.csv", "--out", "labels.jsonl")
    assert "7 labels in labels.jsonl; 1 claim without a label left out" in exported.out
    assert "1 of 8 claims of draw d-" in exported.err
    assert "labels from the top on are a smaller draw" in exported.err
    read = [json.loads(line) for line in (home / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one["label"] for one in read if one["verdict"] == one["label"]]
    assert {one["probability"] for one in read} == {0.35}, "8 of 20 were drawn, and 7 of those labelled"
    sample = load_calibration(home / "labels.jsonl")
    assert (len(sample.labels), sample.probabilities) == (7, (0.35,) * 7)
    assert sample.systems == frozenset({"one"})
    again = factloop("research", "labels", "next", "run", "--out", "more.csv", "--n", 8, "--labels", "labels.jsonl")
    assert "8 of 13 claims without a label (7 have one; 7 labels: too few to learn from, 10 are needed)" in again.out
    more = list(csv.DictReader(io.StringIO((home / "more.csv").read_text(encoding="utf-8"))))
    assert {(row["response_id"], row["claim_id"]) for row in more}.isdisjoint(
        (one["response_id"], one["claim_id"]) for one in read
    )
    agreed = csv_text([*more[0]], [tuple((row | {"label": "agree"}).values()) for row in more])
    (home / "more.csv").write_text(agreed, encoding="utf-8")
    both = factloop("research", "labels", "export", "sheet.csv", "more.csv", "--out", "both.jsonl")
    assert (both.code, "15 labels in both.jsonl" in both.out) == (0, True)
    assert len(load_calibration(home / "both.jsonl").labels) == 15
    pilot = [{"label": int(n % 10 > 0), "verdict": 1} for n in range(20)] + [{"label": 1, "verdict": 0}]
    (home / "pilot.jsonl").write_text("".join(json.dumps(one) + "\n" for one in pilot))
    learnt = factloop("research", "labels", "next", "run", "--out", "third.csv", "--labels", "pilot.jsonl")
    said = "learnt from 21 labels: of 20 claims called supported 2 are not, of 1 called not supported 1 are"
    assert said in learnt.out
    for labels in ("labels.jsonl", "both.jsonl"):
        audited = factloop("research", "audit", labels, "--json", "audit.json")
        assert audited.code == 0
        tuned = factloop("research", "cascade", "tune", labels, "--out", "cascade.json")
        assert tuned.code in (0, 2)
        assert f"{labels}:" not in tuned.err, "every row is read"


def test_a_sheet_that_is_there_is_not_drawn_anew(factloop: Command, home: Path) -> None:
    finished(home / "run")
    (home / "sheet.csv").write_text("filled in")
    (home / "key.json").write_text("its key")
    said = "is there already, and a person may have filled it in; name another file"
    assert f"sheet.csv: {said}" in factloop("research", "labels", "next", "run", "--out", "sheet.csv").complaint
    drawn = ("research", "labels", "disagree", "run")
    assert f"sheet.csv: {said}" in factloop(*drawn, "--out", "sheet.csv", "--key", "k.json").complaint
    refused = factloop(*drawn, "--out", "new.csv", "--key", "key.json")
    assert "key.json: is there already, and a sheet that a person filled in may need it" in refused.complaint
    assert (home / "sheet.csv").read_text() + (home / "key.json").read_text() == "filled inits key"
    assert not (home / "new.csv").exists()
    assert "lies in run" in factloop("research", "labels", "next", "run", "--out", "run/journal.sqlite").complaint


def test_sheets_without_labels_are_refused(factloop: Command, home: Path) -> None:
    finished(home / "run")
    assert factloop("research", "labels", "next", "run", "--out", "sheet.csv", "--quiet").code == 0
    assert (
        "no claim has a label"
        in factloop("research", "labels", "export", "sheet.csv", "--out", "labels.jsonl").complaint
    )
    assert "--out for a sheet, --html for a page" in factloop("research", "labels", "next", "run").complaint
    assert (
        "--half-width 2" in factloop("research", "labels", "next", "run", "--out", "s.csv", "--half-width", 2).complaint
    )


def saved_by_a_page(place: Path, report: FactualityReport, labels: Sequence[str], *, blind: bool = False) -> None:
    """What the page of a report saves: a label for each of its first claims."""
    claims = claims_to_label(report)
    given = [
        GivenLabel(response_id=one.response_id, claim_id=one.claim_id, label=PersonLabel(label), blind=blind)
        for one, label in zip(claims, labels, strict=False)
    ]
    place.write_text(
        to_json(LabelFile(claims_hash=hash_of(claims), claims=claims, labels=tuple(given))), encoding="utf-8"
    )


def test_labels_of_report_pages_are_read_by_calibration_audit_and_cascade(factloop: Command, home: Path) -> None:
    """Five reports of six claims (s n s n i ?): of each four supported or not, one irrelevant, one it cannot tell."""
    said = ("supported", "not_supported", "not_supported", "supported", "irrelevant", "cannot_tell")
    for number, one in enumerate(RESPONSES):
        saved_by_a_page(home / f"page{number}.json", one.report, said, blind=number == 0)
    pages = [f"page{number}.json" for number in range(5)]
    done = factloop("research", "labels", "export", *pages, "--out", "labels.jsonl", "--system", "one")
    assert (done.code, done.err) == (0, "")
    assert "20 labels in labels.jsonl (4 given blind, 16 with the verdict in sight)" in done.out
    assert "5 labelled cannot tell left out; 5 labelled irrelevant left out" in done.out
    sample = load_calibration(home / "labels.jsonl")
    assert (sample.labels[:4], sample.verdicts[:4]) == ((1, 0, 0, 1), (1, 0, 1, 0))
    assert sample.systems == frozenset({"one"})
    assert factloop("research", "audit", "labels.jsonl", "--json", "audit.json").code == 0
    assert "labels.jsonl:" not in factloop("research", "cascade", "tune", "labels.jsonl", "--out", "cascade.json").err


def test_each_page_may_be_of_another_system(factloop: Command, home: Path) -> None:
    """Five reports: two of `a`, three of `b`; an audit then tells the two apart, and a run of `b` finds its labels."""
    said = ("supported", "not_supported", "not_supported", "supported")
    for number, one in enumerate(RESPONSES):
        saved_by_a_page(home / f"page{number}.json", one.report, said)
    pages = [f"page{number}.json" for number in range(5)]
    named = ("--system", "b", "--system", "page0.json=a", "--system", "page1.json=a")
    assert factloop("research", "labels", "export", *pages, "--out", "labels.jsonl", *named).code == 0
    assert load_calibration(home / "labels.jsonl").systems == frozenset({"a", "b"})
    assert factloop("research", "audit", "labels.jsonl", "--json", "audit.json").code == 0
    assert json.loads((home / "audit.json").read_text())["data"]["systems"] == ["a", "b"]

    def complaint(*systems: str) -> str:
        flags = [flag for one in systems for flag in ("--system", one)]
        return factloop("research", "labels", "export", *pages, "--out", "no.jsonl", *flags).complaint

    assert "a name is needed" in complaint(" ")
    assert "a name is needed" in complaint("page0.json=")
    assert "page0.json has two" in complaint("page0.json=a", "page0.json=b")
    assert "say which file each wrote" in complaint("a", "b")


def test_two_peoples_labels_are_compared(factloop: Command, home: Path) -> None:
    """Six claims (s n s n i ?): of four that both labelled supported or not, three alike."""
    saved_by_a_page(home / "ann.json", RESPONSES[0].report, ["supported", "not_supported", "supported", "supported"])
    saved_by_a_page(home / "ben.json", RESPONSES[0].report, ["supported", "not_supported", "supported", "irrelevant"])
    both = ("research", "labels", "export", "ann.json", "ben.json", "--out", "labels.jsonl")
    assert "--differing" in factloop(*both).complaint
    assert "--differing" in factloop(*both, "--json", "people.json").complaint
    done = factloop(*both, "--differing", "left-out", "--json", "people.json")
    assert (done.code, done.err) == (0, "")
    assert "3 labels in labels.jsonl" in done.out
    assert "ann.json and ben.json: 75" in done.out
    assert "4 claims labelled by two people or more, 1 differently, 1 of them left out" in done.out
    assert json.loads((home / "people.json").read_text())["pairs"][0]["kappa"]["n"] == 4
    sample = load_calibration(home / "labels.jsonl")
    assert sample.labels == (1, 0, 1)


def test_the_page_of_the_claims_to_label_next_carries_their_probabilities(factloop: Command, home: Path) -> None:
    finished(home / "run")
    done = factloop("research", "labels", "next", "run", "--html", "next.html", "--n", 8)
    assert (done.code, done.err) == (0, "")
    assert "label them on the page next.html" in done.out
    page = Page((home / "next.html").read_text(encoding="utf-8"))
    common = json.loads(next(one["data-labelling"] for _, one in page.elements if "data-labelling" in one))
    assert (common["common"]["probability"], common["begins"]) == (0.4, "blind")
    assert len([one for one in page.of("li") if "data-claim" in one]) == 8


def test_labels_of_two_runs_are_named(factloop: Command, home: Path) -> None:
    for name, data in (("run", "answers.jsonl"), ("second", "others.jsonl")):
        finished(home / name)
        (home / name / "summary.json").write_text(to_json(summary_of(RESPONSES, data=data)))
        assert factloop("research", "labels", "next", name, "--out", f"{name}.csv", "--n", 8).code == 0
        rows = list(csv.DictReader(io.StringIO((home / f"{name}.csv").read_text(encoding="utf-8"))))
        filled = csv_text([*rows[0]], [tuple((one | {"label": "1"}).values()) for one in rows])
        (home / f"{name}.csv").write_text(filled, encoding="utf-8")
    both = factloop("research", "labels", "export", "run.csv", "second.csv", "--out", "labels.jsonl")
    assert both.code == 0
    judge = RESPONSES[0].report.fingerprint.evaluator
    said = f"2 runs (8 of answers.jsonl, judged by {judge}; 8 of others.jsonl, judged by {judge})"
    assert said in both.complaint
    assert factloop("research", "labels", "export", "run.csv", "--out", "labels.jsonl").err == ""


def test_export_refuses_what_does_not_belong_together(factloop: Command, home: Path) -> None:
    finished(home / "run")
    saved_by_a_page(home / "page.json", RESPONSES[0].report, ["supported"])
    (home / "other.json").write_text(to_json(RESPONSES[1].report))
    (home / "own.json").write_text(to_json(RESPONSES[0].report))
    factloop("research", "labels", "next", "run", "--out", "sheet.csv", "--n", 8, "--quiet")
    rows = list(csv.DictReader(io.StringIO((home / "sheet.csv").read_text(encoding="utf-8"))))
    filled = csv_text([*rows[0]], [tuple((one | {"label": "1"}).values()) for one in rows])
    (home / "sheet.csv").write_text(filled, encoding="utf-8")

    def complaint(*arguments: str) -> str:
        return factloop("research", "labels", "export", *arguments, "--out", "labels.jsonl").complaint

    assert "another report than those of --report" in complaint("page.json", "--report", "other.json")
    assert "page.json: is no report of factloop check" in complaint("page.json", "--report", "page.json")
    assert "page.json: this file is named twice" in complaint("page.json", "page.json")
    (home / "copy.json").write_bytes((home / "page.json").read_bytes())
    assert "has a label in page.json, too" in complaint("page.json", "copy.json")
    assert "were not drawn with known probabilities, those of sheet.csv were" in complaint("page.json", "sheet.csv")
    assert "cannot be read" in complaint("nowhere.json")
    assert not (home / "labels.jsonl").exists()
    assert (
        factloop("research", "labels", "export", "page.json", "--report", "own.json", "--out", "labels.jsonl").code == 0
    )
    assert json.loads((home / "labels.jsonl").read_text())["document"] == ""
