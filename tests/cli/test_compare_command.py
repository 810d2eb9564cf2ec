from __future__ import annotations

import json
from pathlib import Path

import pytest

from factloop.evaluation.comparing.records import Comparison
from tests.cli.command import Command
from tests.evaluation.runs.finished_runs import fingerprint, judged, write_run

OTHER = fingerprint(model="other:judge")


@pytest.fixture
def runs(home: Path) -> tuple[Path, Path]:
    a = [judged(f"p{n}", "ssn", system=s, labels="SNN") for n in range(10) for s in ("x", "y")]
    b = [judged(f"p{n}", "snn", system=s, labels="SNN", made_by=OTHER) for n in range(10) for s in ("x", "y")]
    return write_run(home / "runs" / "a", a), write_run(home / "runs" / "b", b, made_by=OTHER)


@pytest.mark.usefixtures("runs")
def test_two_evaluators(factloop: Command, home: Path) -> None:
    result = factloop("research", "compare", "runs/a", "runs/b", "--html", "page.html", "--json", "found.json")
    assert (result.code, result.err) == (0, "")
    for part in (
        "Two evaluators on 20 responses",
        "Claims that flipped (20)",
        "B agrees better with the labels than A",
    ):
        assert part in " ".join(result.out.split())
    assert (home / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    found = Comparison.model_validate_json((home / "found.json").read_text(encoding="utf-8"))
    # F1@2 of ssn is .8 (P 2/3, R 1), of snn .4 (P 1/3, R 1/2); 2 of 2^10 ways to turn ten prompts reach that.
    f1 = next(one for one in found.differences if one.k == 2)
    assert f1.value == pytest.approx(-0.4)
    assert (f1.p, f1.n, f1.n_groups) == (2 / 1024, 20, 10)
    assert (found.first.run, found.second.run) == ("runs/a", "runs/b")


def test_runs_between_two_say_what_the_difference_came_from(factloop: Command, home: Path) -> None:
    """F1@2 of ssn is .8, of snn .4, of sss 1 and of nnn 0, in eight responses; a ninth is the same in all runs. A tenth
    has no verdict in the third run, and counts nowhere."""
    said = {
        "a": ("ssn", "", fingerprint(search_tools=("serper",))),
        "judge": ("snn", "", fingerprint(search_tools=("given documents",), model="other:judge")),
        "search": ("sss", "", fingerprint(search_tools=("tavily",), model="other:judge")),
        "b": ("nnn", "Another answer.", fingerprint(search_tools=("tavily",), model="other:judge")),
    }
    for name, (verdicts, response, made_by) in said.items():
        found = [judged(f"p{n}", verdicts, response=response or None, made_by=made_by) for n in range(9)]
        found.append(judged("same", "ss", made_by=made_by))
        if name == "search":
            found[8] = judged("p8", "???", made_by=made_by)
        write_run(home / name, found, made_by=made_by)
    result = factloop("research", "compare", *said, "--k", 2, "--json", "found.json", "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    found_ = Comparison.model_validate_json((home / "found.json").read_text(encoding="utf-8")).attribution
    assert found_ is not None
    assert [step.changed for step in found_.steps] == [("judge",), ("search",), ("answers",)]
    assert [step.parts[0].value for step in found_.steps] == pytest.approx([-0.4 * 8 / 9, 0.6 * 8 / 9, -8 / 9])
    (whole, precision) = found_.whole
    assert whole.value == pytest.approx(-0.8 * 8 / 9)
    assert (whole.n, whole.n_left_out) == (9, 1)
    assert precision.value == pytest.approx(sum(step.parts[1].value or 0.0 for step in found_.steps))
    assert all(part.low is not None for step in found_.steps for part in step.parts)
    for written in (result.out, (home / "page.html").read_text(encoding="utf-8")):
        assert "What caused the difference" in written
    again = factloop("research", "compare", "a", "search", "b", "--k", 2, "--json", "-")
    steps = json.loads(again.out)["attribution"]["steps"]
    assert [step["changed"] for step in steps] == [["judge", "search"], ["answers"]]
    for name, changes in (("plain", {}), ("counted", {"repeats": "once"}), ("newer", {"factloop_version": "2"})):
        made_by = fingerprint(**changes)
        write_run(home / name, [judged("p0", "s", made_by=made_by)], made_by=made_by)
    again = factloop("research", "compare", "plain", "counted", "newer", "--json", "-")
    steps = json.loads(again.out)["attribution"]["steps"]
    assert [step["changed"] for step in steps] == [["counting"], ["counting", "versions"]]


@pytest.mark.usefixtures("runs")
def test_a_build_fails_if_the_second_run_is_worse(factloop: Command, home: Path) -> None:
    """Labels are SNN: A, ssn, is right on 2 of 3 claims, B on all. All ten prompts point one way: p = 2^-10."""
    better = ("research", "compare", "runs/a", "runs/b", "--quiet", "--fail-if-worse")
    worse = ("research", "compare", "runs/b", "runs/a", "--quiet", "--fail-if-worse")
    for demand in ("accuracy", "accuracy:0.01", "balanced_accuracy:0.2"):
        assert factloop(*better, demand).code == 0
        done = factloop(*worse, demand, "--json", "found.json")
        assert done.code == 1
        assert done.err.startswith(f"factloop: B against A in {demand.partition(':')[0].replace('_', ' ')}: a loss")
    (found,) = json.loads((home / "found.json").read_text(encoding="utf-8"))["demands"]
    assert (found["is_met"], found["p"], found["margin"]) == (False, 1.0, 0.2)
    assert found["loss"] == pytest.approx(1 / 4)  # of TNR 1/2 and of TPR nothing
    systems = ("research", "compare", "runs/a", "--quiet", "--fail-if-worse")
    assert factloop(*systems, "precision:0.05").code == 0
    assert factloop(*systems, "f1").code == 0
    refused = factloop(*better, "precision").complaint
    assert "for evaluators; use one of these: balanced_accuracy, accuracy, tpr, tnr, unscored_share" in refused
    assert "for systems; use one of these: f1@2, precision" in factloop(*systems, "f1@3").complaint


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("runs/a", "nowhere"), "nowhere is not a run"),
        (("runs/a", *("--system", "x") * 3), "can be used at most twice"),
        (("runs/a", "runs/b", "--k", "0"), "--k"),
        (("runs/a", "runs/b", "--level", "nan"), "--level nan"),
        (("runs/a", "runs/b", "--json", "runs/a/summary.json"), "is inside runs/a"),
        (("runs/a", "runs/b", "--html", "none/page.html"), "cannot write none/page.html"),
        (("runs/a", "runs/torn"), "reports.jsonl"),
        (("runs/a", "runs/unfinished"), "has not finished"),
    ],
)
def test_wrong_input_is_named_and_nothing_is_written(
    factloop: Command, home: Path, arguments: tuple[str, ...], named: str
) -> None:
    folder = home / "runs"
    torn = write_run(folder / "torn", [judged(f"p{n}", "s", system=s) for n in range(2) for s in "xy"])
    (torn / "reports.jsonl").write_text('{"id": "x/p0"}\n', encoding="utf-8")
    (write_run(folder / "unfinished", [judged("p1", "s")]) / "summary.json").unlink()
    before = sorted(home.rglob("*"))
    result = factloop("research", "compare", *arguments)
    assert (result.code, result.out) == (2, "")
    assert named in result.complaint
    assert sorted(home.rglob("*")) == before


def test_runs_of_factloop_eval(factloop: Command, home: Path, docs: Path) -> None:
    """The same answers judged against the documents, and against nothing that speaks of Ada."""
    said = "Ada Lovelace was born in London."
    rows = [
        {"prompt": f"Who was Ada Lovelace, {n}?", "response": said, "id": f"r{n}", "system": "one"} for n in range(3)
    ]
    (home / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    empty = home / "empty"
    empty.mkdir()
    (empty / "other.txt").write_text("The canal was dug in 1790.\n", encoding="utf-8")
    for folder, source in (("a", docs), ("b", empty)):
        result = factloop("eval", "rows.jsonl", "--docs", source, "--k", 1, "--run-dir", folder, "--quiet")
        assert result.code == 0, result.err
    found = json.loads(factloop("research", "compare", "a", "b", "--json", "-").out)
    assert (found["kind"], found["differences"][0]["value"]) == ("evaluators", -1.0)
    assert [flip["second_side"]["verdict"] for flip in found["flips"]] == ["not_supported"] * 3
    assert [one["name"] for one in found["settings"]] == ["search_tools"]
