from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from factloop.core.files.json import to_json
from factloop.core.records import FactualityReport
from factloop.evaluation.labels.disagreements import SHEET, DisagreementKey
from factloop.evaluation.runs.calibration import load_calibration
from factloop.reports.downloads import csv_text
from factloop.reports.labels import GivenLabel, LabelFile, PersonLabel, claims_to_label, hash_of
from tests.cli.command import Command, Result
from tests.evaluation.runs.finished_runs import judged, write_run

RESPONSES = [judged(f"p{n}", "snsni?", labels="SNNSSS") for n in range(5)]


@pytest.fixture
def run(home: Path) -> Path:
    return write_run(home / "run", RESPONSES, kind="factscore")


def labels(factloop: Command, words: str) -> Result:
    return factloop("research", "labels", *words.split())


def fill(sheet: Path, column: str, values: Sequence[str]) -> list[dict[str, str]]:
    rows = list(csv.DictReader(io.StringIO(sheet.read_text(encoding="utf-8"))))
    for row, value in zip(rows, values, strict=True):
        row[column] = value
    sheet.write_text(csv_text([*rows[0]], [tuple(row.values()) for row in rows]), encoding="utf-8")
    return rows


@pytest.mark.usefixtures("run")
def test_disagreements_are_drawn_and_adjudicated(factloop: Command, home: Path) -> None:
    done = labels(factloop, "disagree run --out sheet.csv --key key.json --n 10")
    assert (done.code, done.err) == (0, "")
    assert "10 of 15 disagreements among 25 labelled claims" in done.out
    key = DisagreementKey.model_validate_json((home / "key.json").read_bytes())
    rows = fill(home / "sheet.csv", "answer", ["first" if one.judge_is_first else "second" for one in key.disputed])
    assert list(rows[0]) == list(SHEET)
    found = labels(factloop, "adjudicate sheet.csv --key key.json --json found.json")
    assert (found.code, json.loads((home / "found.json").read_text())["judge_right"]) == (0, 10)
    assert "Judge right 100.0% [69.2%, 100.0%], 10 of 10" in " ".join(found.out.split())
    assert labels(factloop, "adjudicate sheet.csv --key sheet.csv").code == 2
    page = labels(factloop, "disagree run --html page.html --key page.key --n 3")
    assert "3 of 15 disagreements among 25 labelled claims: answer on the page page.html" in page.out
    assert (home / "page.html").read_text(encoding="utf-8").count("First: <b>") == 3


@pytest.mark.usefixtures("run")
def test_labels_are_drawn_filled_in_and_read(factloop: Command, home: Path) -> None:
    """Twenty claims are supported or not supported (i and ? are left out); eight of them are drawn."""
    done = labels(factloop, "next run --out sheet.csv --n 8 --html next.html")
    assert (done.code, done.err) == (0, "")
    assert "8 of 20 claims with a verdict (no labels to learn from)" in done.out
    assert "5 claims without a verdict cannot be drawn" in done.out
    rows = fill(home / "sheet.csv", "label", ("1", "1", "0", "", "0", "1", "1", "0"))
    assert {row["probability"] for row in rows} == {"0.4"}
    assert {"verdict", "score"}.isdisjoint(rows[0]), "labels are given without knowing the verdict"
    assert {row["prompt"] for row in rows} <= {one.prompt_id for one in RESPONSES}
    exported = labels(factloop, "export sheet.csv --out labels.jsonl")
    assert "7 labels in labels.jsonl (7 blind, 0 with the verdict visible); left out 1 claim" in exported.out
    assert "they are a smaller random sample" in exported.err
    sample = load_calibration(home / "labels.jsonl")
    assert (sample.probabilities, sample.systems) == ((0.35,) * 7, frozenset({"one"}))  # 8 of 20 drawn, 7 labelled
    again = labels(factloop, "next run --out more.csv --n 8 --labels labels.jsonl")
    few = "too few usable labels to learn from: 7 of at least 10"
    assert f"8 of 13 claims with a verdict and no label (7 others are labelled; {few})" in again.out
    more = fill(home / "more.csv", "label", ["1"] * 8)
    labelled = {(row["response_id"], row["claim_id"]) for row in rows if row["label"]}
    assert labelled.isdisjoint((row["response_id"], row["claim_id"]) for row in more)
    both = labels(factloop, "export sheet.csv more.csv --out both.jsonl")
    assert (both.code, "15 labels in both.jsonl" in both.out) == (0, True)
    assert factloop("research", "audit", "both.jsonl", "--json", "audit.json").code == 0
    assert "both.jsonl:" not in factloop("research", "cascade", "tune", "both.jsonl", "--out", "c.json").err
    pilot = [{"label": int(n % 10 > 0), "verdict": 1} for n in range(20)] + [{"label": 1, "verdict": 0}]
    (home / "pilot.jsonl").write_text("".join(json.dumps(one) + "\n" for one in pilot))
    learnt = labels(factloop, "next run --out third.csv --labels pilot.jsonl").out
    assert "were not supported, and 1 of 1 claims judged not supported were supported" in learnt


def saved_by_a_page(place: Path, report: FactualityReport, given: Sequence[str], *, blind: bool = False) -> None:
    claims = claims_to_label(report)
    made = [
        GivenLabel(response_id=one.response_id, claim_id=one.claim_id, label=PersonLabel(label), blind=blind)
        for one, label in zip(claims, given, strict=False)
    ]
    file = LabelFile(claims_hash=hash_of(claims), claims=claims, labels=tuple(made))
    place.write_text(to_json(file), encoding="utf-8")


def test_labels_of_report_pages_are_read_by_calibration_and_audit(factloop: Command, home: Path) -> None:
    """Five reports of six claims (s n s n i ?), from two systems."""
    said = ("supported", "not_supported", "not_supported", "supported", "irrelevant", "cannot_tell")
    for number, one in enumerate(RESPONSES):
        saved_by_a_page(home / f"page{number}.json", one.report, said, blind=number == 0)
    pages = " ".join(f"page{number}.json" for number in range(5))
    done = labels(factloop, f"export {pages} --out labels.jsonl --system b --system page0.json=a")
    assert (done.code, done.err) == (0, "")
    assert "20 labels in labels.jsonl (4 blind, 16 with the verdict visible)" in done.out
    assert "left out 5 claims labelled cannot tell; left out 5 claims labelled irrelevant" in done.out
    sample = load_calibration(home / "labels.jsonl")
    of_both = frozenset({"a", "b"})
    assert (sample.labels[:4], sample.verdicts[:4], sample.systems) == ((1, 0, 0, 1), (1, 0, 1, 0), of_both)
    assert factloop("research", "audit", "labels.jsonl", "--json", "audit.json").code == 0
    assert json.loads((home / "audit.json").read_text())["data"]["systems"] == ["a", "b"]
    again = RESPONSES[0].report.model_copy(update={"created_at": datetime(2030, 1, 1, tzinfo=UTC)})
    (home / "again.json").write_text(to_json(again))
    assert labels(factloop, "export page0.json --out l.jsonl --report again.json").code == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("SNSNSS", ("4 of your 6 labels say supported: that is this answer’s precision. It needs no interval",
                    "2 of the judge’s 2 “supported” verdicts", "(2), the judge flagged 2, called 0 supported")),
        ("SNNSIC", ("2 of your 4 labels say supported: that is this answer’s precision\n",
                    "1 of the judge’s 2 “supported” verdicts", "(2), the judge flagged 1, called 1 supported")),
        ("IIIINN", ("0 of your 2 labels say supported: that is this answer’s precision. It needs no interval",
                    "none of these 2 claims supported", "flagged 1, called 0 supported and left 1 unscored")),
        ("SS", ("2 of your 2 labels say supported: label the other 4 claims to get this answer’s precision\n",
                "1 of the judge’s 1 “supported” verdicts", "you labelled no claim not supported")),
    ],
)  # fmt: skip
def test_labels_of_one_answer_are_compared_with_its_verdicts(
    factloop: Command, home: Path, given: str, said: Sequence[str]
) -> None:
    words = {"S": "supported", "N": "not_supported", "I": "irrelevant", "C": "cannot_tell"}
    saved_by_a_page(home / "page.json", RESPONSES[0].report, [words[label] for label in given])  # for s n s n i ?
    out = labels(factloop, "export page.json --out l.jsonl").out
    assert [one for one in said if one not in out] == []


def test_two_peoples_labels_are_compared(factloop: Command, home: Path) -> None:
    saved_by_a_page(home / "ann.json", RESPONSES[0].report, ["supported", "not_supported", "supported", "supported"])
    saved_by_a_page(home / "ben.json", RESPONSES[0].report, ["supported", "not_supported", "supported", "irrelevant"])
    done = labels(factloop, "export ann.json ben.json --out labels.jsonl --differing left-out --json people.json")
    assert (done.code, done.err, "3 labels in labels.jsonl" in done.out) == (0, "", True)
    assert "4 claims labelled by two or more people, 1 with different labels (1 left out)" in done.out
    assert json.loads((home / "people.json").read_text())["pairs"][0]["kappa"]["n"] == 4
    assert load_calibration(home / "labels.jsonl").labels == (1, 0, 1)


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("next run", "--out for a sheet, or --html for a page"),
        ("next run --out filled.csv", "filled.csv already exists, and someone may have filled it in"),
        ("next run --out run/journal.sqlite", "is inside run"),
        ("disagree run --key k.json", "--html for a page on which to answer"),
        ("disagree run --out filled.csv --key k.json", "filled.csv already exists"),
        ("disagree run --out s.csv --key filled.csv", "a completed sheet may still need it"),
        ("disagree run --out - --key k.json", "--out, --html and --key must be files"),
        ("export page.json --out l.jsonl --report other.json", "belong to none of the --report files"),
        ("export page.json --out l.jsonl --report page.json", "this is not a factloop report"),
        ("export page.json page.json --out l.jsonl", "page.json: this file is listed twice"),
        ("export page.json copy.json --out l.jsonl", "--differing"),
        ("export page.json --out l.jsonl --json p.json", "--differing"),
        ("export page.json --out l.jsonl --system page.json=", "must be NAME or FILE=NAME"),
        ("export page.json --out l.jsonl --system a --system b", "assign each file to its system"),
        ("export page.json --out l.jsonl --system page.json=a --system page.json=b", "two names for page.json"),
    ],
)
def test_what_does_not_belong_together_is_refused(factloop: Command, home: Path, words: str, said: str) -> None:
    for name in ("page.json", "copy.json"):
        saved_by_a_page(home / name, RESPONSES[0].report, ["supported"])
    (home / "other.json").write_text(to_json(judged("p1", "nnnn").report))
    (home / "filled.csv").write_text("filled in")
    before = sorted(home.rglob("*"))
    refused = labels(factloop, words)
    assert (refused.code, said in refused.complaint) == (2, True), refused.complaint
    assert (sorted(home.rglob("*")), (home / "filled.csv").read_text()) == (before, "filled in")
