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
    over = factloop("research", "compare", "runs/a", "runs/b", "--json", "runs/a/summary.json")
    assert (over.code, "is inside runs/a" in over.complaint) == (2, True)


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
