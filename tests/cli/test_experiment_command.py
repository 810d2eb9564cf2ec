"""`factloop research experiment`: outputs, exit codes, what is refused before anything is spent, and the example."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.command import Command
from tests.evaluation.experiments.small_plans import facts_of, write_claims, write_variant
from tests.simulator import MODEL, Faults, Simulator

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "prompt-experiment"

PLAN = f"""\
name: small
data: claims.jsonl
repeats: 2
settings: {{model: "{MODEL}", price_in: 1.0, price_out: 2.0}}
variants:
  packaged: {{}}
  strict: {{prompts: strict}}
"""


@pytest.fixture
def plan(sim: Simulator, home: Path) -> Path:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 6))
    write_variant(home / "strict")
    path = home / "plan.yaml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def test_a_plan_becomes_a_report(factloop: Command, sim: Simulator, plan: Path, home: Path) -> None:
    done = factloop(
        "research", "experiment", plan, "--run-dir", "run", "--json", "report.json", "--html", "report.html"
    )
    assert done.code == 0
    assert done.err == ""
    assert "strict" in done.out
    report = json.loads((home / "report.json").read_text(encoding="utf-8"))
    assert (report["name"], report["kind"], report["n_items"], report["repeats"]) == ("small", "claims", 6, 2)
    assert report["created_at"] is not None
    hashes = [one["variant"]["fingerprint"]["prompts"]["safe/assessment"] for one in report["variants"]]
    assert len(set(hashes)) == 2
    (file,) = report["variants"][1]["variant"]["prompt_files"]
    assert (file["sha256"], file["is_changed"]) == (hashes[1], True)
    assert Path(file["path"]) == home / "strict" / "safe" / "assessment.md"
    assert "Prompt of strict" in done.out
    assert report["paid"]["calls"] == sim.stats().model.requests
    assert json.loads((home / "run" / "experiment.json").read_text(encoding="utf-8")) == report
    assert (home / "report.html").read_text(encoding="utf-8").startswith("<!")
    requests = sim.stats().model.requests
    again = factloop(
        "research", "experiment", plan, "--run-dir", "run", "--json", "-", "--pairs", "all", "--level", "0.9"
    )
    assert json.loads(again.out)["level"] == 0.9
    assert sim.stats().model.requests == requests


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("name: small", "name: ''"), "factloop: plan.yaml:1: field 'name': a name is up to 64"),
        (("data: claims.jsonl", "data: nowhere.jsonl"), "nowhere.jsonl: cannot be read"),
        (("prompts: strict", "prompts: nowhere"), "variant 'strict': nowhere"),
        (("{prompts: strict}", "{}"), "variants 'packaged' and 'strict' would put the very same questions"),
        (("{prompts: strict}", "{plan: paper, docs: [.]}"), "claims.jsonl: is among the documents (docs)"),
        (("{prompts: strict}", "{plan: safe, jury: [openai:x]}"), "variant 'strict': the plan safe uses one"),
        ((MODEL, "nobody:x"), "variant 'packaged': "),
        (("repeats: 2", "demands: [tnr:5]"), "plan.yaml:3: field 'demands': demand tnr:5: the margin of a share is"),
        (("repeats: 2", "must_pass: [f9]"), "must_pass: 'f9' is no labelled claim of claims.jsonl"),
    ],
)
def test_what_is_wrong_is_one_line_and_costs_nothing(
    factloop: Command, sim: Simulator, plan: Path, edit: tuple[str, str], said: str
) -> None:
    plan.write_text(PLAN.replace(*edit), encoding="utf-8")
    done = factloop("research", "experiment", "plan.yaml")
    assert (done.code, said in done.complaint, sim.stats().model.requests) == (2, True, 0)


def test_a_dry_run_spends_nothing(factloop: Command, sim: Simulator, plan: Path) -> None:
    done = factloop("research", "experiment", plan, "--dry-run")
    assert done.out.startswith("Nothing was spent. Estimate for 24 cells: 6 claims, 2 variants, 2 repeats.\n")
    for unwritten in (("--out", "gate.xml"), ("--html", "page.html")):
        refused = factloop("research", "experiment", plan, "--dry-run", *unwritten)
        assert (refused.code, "--dry-run writes no --out and no --html" in refused.complaint) == (2, True)
    estimate = json.loads(factloop("research", "experiment", plan, "--dry-run", "--json", "-").out)
    # One call to read each claim, and 1.2 rounds to judge it: 6 + round(7.2) a repeat and variant.
    assert [one["calls"] for one in estimate["variants"]] == [13, 13]
    assert (estimate["calls"], estimate["n_cells"]) == (52, 24)
    assert estimate["cost_usd"] > 0
    assert sim.stats().model.requests == 0


def test_a_gate_in_the_plan_fails_the_build_and_names_the_claims(factloop: Command, plan: Path, home: Path) -> None:
    """With a wrong label no variant has the first claim right, which must pass."""
    plan.write_text(PLAN + 'demands: [accuracy, "tpr >= 0", "flips <= 0"]\nmust_pass: [f0]\n', encoding="utf-8")
    met = factloop("research", "experiment", plan, "--quiet")
    assert (met.code, met.out) == (0, "")
    data = home / "claims.jsonl"
    first, *rest = data.read_text(encoding="utf-8").splitlines()
    row = json.loads(first)
    data.write_text("\n".join([json.dumps({**row, "label": 1 - row["label"]}), *rest]), encoding="utf-8")
    (home / "ci").mkdir()
    outputs = ("--out", "gate.xml", "--out", "ci/gate.md", "--html", "page one.html", "--json", "r.json")
    done = factloop("research", "experiment", plan, "--quiet", *outputs)
    assert done.code == 1
    demanded = json.loads((home / "r.json").read_text(encoding="utf-8"))["demands"]
    (missed,) = [one for one in demanded if not one["is_met"]]
    assert missed["claims"] == [row["claim"]]
    assert f"factloop: {missed['words']}\n" in done.err
    suite = ElementTree.parse(home / "gate.xml").getroot()
    failure = f"{row['claim']}\npage one.html"
    assert (suite.get("tests"), suite.get("failures"), suite.findtext(".//failure")) == ("4", "1", failure)
    names = [case.get("name") for case in suite]
    assert names == [f"strict: {one}" for one in ("accuracy", "tpr >= 0", "flips <= 0", "must_pass")]
    comment = (home / "ci" / "gate.md").read_text(encoding="utf-8")
    assert f"- {row['claim']}\n" in comment
    assert "[The whole report](../page%20one.html)" in comment
    piped = factloop("research", "experiment", plan, "--html", "-", "--out", "gate.md")
    assert piped.out.startswith("<!")
    assert "The whole report" not in (home / "gate.md").read_text(encoding="utf-8")
    assert "name a file in .xml" in factloop("research", "experiment", plan, "--out", "gate.txt").complaint


def test_a_prompt_that_hurts_is_warned_of_and_strict_minds_unscored_claims(
    factloop: Command, sim: Simulator, plan: Path, home: Path
) -> None:
    prompt = home / "strict" / "safe" / "assessment.md"
    prompt.write_text(
        prompt.read_text(encoding="utf-8").replace("apart", "a\u200bpart").replace('"verdict":', '"label":'),
        encoding="utf-8",
    )
    sim.set(stage_faults={"Assessment": Faults(refusal=0.5)})
    done = factloop("research", "experiment", plan, "--fail-if-unscored")
    assert done.code == 3
    assert done.err.splitlines()[0].startswith(f"factloop: {home / 'strict'}")
    warned = factloop("research", "experiment", plan, "--dry-run").err
    assert "this is no Assessment: it has no field 'label'" in warned
    assert re.fullmatch(r"factloop: \d+ judgements unscored \(--fail-if-unscored\)", done.err.splitlines()[-1])
    assert factloop("research", "experiment", plan, "--quiet").err == ""


def test_a_variant_without_any_verdict_is_an_error_with_its_cause(
    factloop: Command, sim: Simulator, plan: Path
) -> None:
    sim.set(stage_faults={"Assessment": Faults(refusal=1.0)})
    done = factloop("research", "experiment", plan, "--html", "report.html")
    assert done.code == 3
    assert done.err.splitlines()[-2:] == [
        f"factloop: {name}: no claim could be scored, 12 of 12: Assessment: I'm sorry, but I can't help with that."
        for name in ("packaged", "strict")
    ]
    assert "every claim is without a verdict and in no figure of agreement: Assessment: I" in " ".join(done.out.split())


@pytest.mark.statistical
def test_the_example_does_what_its_page_says(
    factloop: Command, sim: Simulator, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim.set(reads_by_words=True)
    shutil.copytree(EXAMPLE, home / "example")
    monkeypatch.chdir(home / "example")
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    factloop (.+)$", text, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        done = factloop(*command.split())
        assert (done.code, done.err) == (0, "")
    report = json.loads((home / "example" / "runs" / "strict" / "experiment.json").read_text(encoding="utf-8"))
    figures = [{one["quantity"]: one["value"] for one in of["figures"]} for of in report["variants"]]
    (apart,) = [one for one in report["differences"] if one["quantity"] == "balanced_accuracy"]
    for value in (
        f"balanced accuracy +{apart['value']:.3f}",
        f"interval +{apart['low']:.3f} to +{apart['high']:.3f}, n = {apart['n']} claims in {apart['n_groups']} groups",
        f"TNR {figures[1]['tnr']:.3f}\nafter {figures[0]['tnr']:.3f}",
        f"TPR {figures[1]['tpr']:.3f} after {figures[0]['tpr']:.3f}",
    ):
        assert value.replace("\n", " ") in " ".join(text.split()), value
    assert all(one["variant"]["shares_evidence"] for one in report["variants"])
