from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import lxml.html
import pytest

from factloop.evaluation.experiments.plan import load_plan
from factloop.evaluation.experiments.run import judged_before
from factloop.evaluation.experiments.variants import all_settings
from factloop.prompts.registry import packaged_prompts
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
    write_claims(home / "bare.jsonl", facts_of(sim.world, 6), documents=False)
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
    assert (file["sha256"], file["is_changed"], file["changes"]) == (hashes[1], True, "“Take the claim apart.”")
    assert Path(file["path"]) == home / "strict" / "safe" / "assessment.md"
    assert "Prompt of strict" in done.out
    assert report["paid"]["calls"] == sim.stats().model.requests
    assert json.loads((home / "run" / "experiment.json").read_text(encoding="utf-8")) == report
    assert (home / "report.html").read_text(encoding="utf-8").startswith("<!")
    requests = sim.stats().model.requests
    again = factloop("research", "experiment", plan, "--run-dir", "run", "--json", "-", "--level", "0.9")
    assert json.loads(again.out)["level"] == 0.9
    assert sim.stats().model.requests == requests


def test_warnings_come_before_the_run_and_in_the_report(factloop: Command, plan: Path, home: Path) -> None:
    (file,) = (home / "strict").rglob("*.md")
    file.write_text(file.read_text(encoding="utf-8").replace("Take the claim apart.", "Read <passages>."))
    shutil.copy(packaged_prompts()["safe/grounded_facts"].path, file.parent)
    plan.write_text(PLAN.replace("settings: {", "settings: {plan: grounded, "), encoding="utf-8")
    done = factloop("research", "experiment", plan, "--json", "report.json")
    warnings = json.loads((home / "report.json").read_text(encoding="utf-8"))["warnings"][:3]
    told = ("<passages>", "safe/grounded_facts is sent for responses", "safe/assessment belongs to the fused plan")
    assert [words in warning for words, warning in zip(told, warnings, strict=True)] == [True] * 3
    planned = factloop("research", "experiment", plan, "--dry-run")
    assert done.err == planned.err == "".join(f"factloop: {warning}\n" for warning in warnings)
    assert planned.out.count("about 6 model calls per repeat") == 2


def test_an_experiment_stops_once_it_is_decided_and_pays_for_no_more(
    factloop: Command, sim: Simulator, plan: Path, home: Path
) -> None:
    """Both prompts give the same verdicts, so a difference of 0.9 is ruled out early."""
    plan.write_text(PLAN.replace("repeats: 2", "until: {difference: 0.9, looks: 3}\nheld_out: 0.2"), encoding="utf-8")
    write_claims(home / "claims.jsonl", facts_of(sim.world, 16))
    assert "--run-dir" in factloop("research", "experiment", plan).complaint
    planned = factloop("research", "experiment", plan, "--dry-run").out
    assert "look 3 of 3, at 12 of 12 claims, at 97.15%" in " ".join(planned.split())
    assert sim.stats().model.requests == 0
    done = factloop("research", "experiment", plan, "--run-dir", "run", "--json", "-")
    report = json.loads(done.out)
    assert (report["look"]["number"], report["look"]["still_open"], report["n_items"]) == (2, [], 8)
    assert report["level"] == pytest.approx(0.9796, abs=1e-4)
    assert sim.stats().model.requests == report["paid"]["calls"] == 24
    held = json.loads(factloop("research", "experiment", plan, "--run-dir", "run", "--held-out", "--json", "-").out)
    assert (held["n_items"], held["look"], held["level"]) == (4, None, 0.95)
    whole, _, of = report["data"].rpartition(", ")
    assert (of, held["data"]) == ("4 of 16 claims held out", f"{whole}, held-out part")
    assert (held["history"], held["warnings"][0][:8]) == ([], "The head")
    again = json.loads(factloop("research", "experiment", plan, "--run-dir", "run", "--held-out", "--json", "-").out)
    assert again["history"] == [], "the same again is no new look"
    write_variant(home / "other")
    prompt = home / "other" / "safe" / "assessment.md"
    prompt.write_text(prompt.read_text(encoding="utf-8").replace("apart", "to pieces"), encoding="utf-8")
    plan.write_text(plan.read_text(encoding="utf-8").replace("prompts: strict", "prompts: other"), encoding="utf-8")
    words = ("research", "experiment", plan, "--run-dir", "run", "--held-out")
    second = factloop(*words, "--json", "second.json", "--html", "second.html")
    later = json.loads((home / "second.json").read_text(encoding="utf-8"))
    assert [[one["variant"]["name"] for one in past["variants"]] for past in later["history"]] == [
        ["packaged", "strict"]
    ]
    assert "look 2 at the held-out part" in later["warnings"][0]
    page: Any = lxml.html.document_fromstring((home / "second.html").read_text(encoding="utf-8"))
    (earlier,) = page.xpath("//section[@aria-labelledby='history-title']")
    assert [words in earlier.text_content() for words in ("“Take the claim apart.”", "to pieces")] == [True, False]
    assert second.code == 0
    assert sim.stats().repeated == 0


def test_a_look_at_claims_that_were_judged_before_they_were_held_out_is_not_called_the_first(
    factloop: Command, plan: Path, home: Path
) -> None:
    words = ("research", "experiment", plan, "--run-dir", "run")
    assert factloop(*words).code == 0
    plan.write_text(f"{PLAN}held_out: 0.34\n", encoding="utf-8")
    for _ in range(2):
        said = " ".join(factloop(*words, "--held-out", "--html", "held.html", "--json", "held.json").out.split())
        assert said.count("2 of the held-out items had verdicts in this run directory") == 2
        assert "This is the first look" not in said + (home / "held.html").read_text(encoding="utf-8")
        assert json.loads((home / "held.json").read_text(encoding="utf-8"))["n_seen"] == 2


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("data: claims.jsonl", "data: nowhere.jsonl"), "nowhere.jsonl: cannot be read"),
        (("{prompts: strict}", "{}"), "variants 'packaged' and 'strict' would send the same requests"),
        (("data: claims.jsonl", "data: bare.jsonl"), "variant 'packaged' has nothing to judge against; set `docs`"),
        (("{prompts: strict}", "{plan: paper, docs: [.]}"), "claims.jsonl is one of the documents (docs)"),
        (("{prompts: strict}", "{plan: safe, jury: [openai:x]}"), "variant 'strict': the `safe` plan uses a single"),
        ((MODEL, "nobody:x"), "variant 'packaged': "),
        (("repeats: 2", "demands: [tnr:5]"), "plan.yaml:3: field 'demands': demand tnr:5: the margin of a share must"),
        (("repeats: 2", "must_pass: [f9]"), "must_pass: unknown claim 'f9'; use ids of labelled claims"),
        (("repeats: 2", "splitting: baseline"), "remove `splitting`: claims.jsonl contains claims, which are"),
    ],
)
def test_what_is_wrong_is_one_line_and_costs_nothing(
    factloop: Command, sim: Simulator, plan: Path, edit: tuple[str, str], said: str
) -> None:
    plan.write_text(PLAN.replace(*edit), encoding="utf-8")
    for flags in ((), ("--dry-run",))[: 1 if MODEL in edit else 2]:  # a dry run builds no model
        done = factloop("research", "experiment", "plan.yaml", *flags)
        assert (done.code, said in done.complaint, sim.stats().model.requests) == (2, True, 0)


def test_a_dry_run_spends_nothing(factloop: Command, sim: Simulator, plan: Path) -> None:
    done = factloop("research", "experiment", plan, "--dry-run")
    assert done.out.startswith("Nothing was spent. Estimate for 24 cells: 6 claims, 2 variants, 2 repeats.\n")
    for unwritten in (("--out", "gate.xml"), ("--html", "page.html")):
        refused = factloop("research", "experiment", plan, "--dry-run", *unwritten)
        assert (refused.code, "--dry-run writes no files" in refused.complaint) == (2, True)
    estimate = json.loads(factloop("research", "experiment", plan, "--dry-run", "--json", "-").out)
    # One call to read each claim, and 1.2 rounds to judge it: 6 + round(7.2) a repeat and variant.
    assert [one["calls"] for one in estimate["variants"]] == [13, 13]
    # Five are supported, one is not: 4 / (1 + 1/5) independent claims, (1.96 + 0.84) sqrt(0.4 / 3.33) = 0.97.
    assert "4 times out of 5: about 0.97 in balanced_accuracy, none in tpr, none in tnr; detecting 0.1" in done.out
    assert "takes about 314 independent claims" in done.out  # 2.8^2 0.4 / 0.1^2
    assert (estimate["calls"], estimate["n_cells"]) == (52, 24)
    assert estimate["cost_usd"] > 0
    assert sim.stats().model.requests == 0


def test_a_dry_run_counts_the_calls_that_are_answered_already(
    factloop: Command, sim: Simulator, plan: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("research", "experiment", plan, "--run-dir", "run")
    planned = (*words, "--dry-run", "--json", "-")
    assert json.loads(factloop(*planned).out)["answered_calls"] == 0
    assert not (home / "run").exists()
    factloop(*words)
    whole = json.loads(factloop(*planned).out)
    assert (whole["answered_calls"], whole["cost_usd"], whole["searches"]) == (whole["calls"], 0.0, 0)
    prompt = home / "strict" / "safe" / "assessment.md"
    prompt.write_text(prompt.read_text(encoding="utf-8").replace("apart", "to pieces"), encoding="utf-8")
    before = sim.stats().model.requests
    edited = json.loads(factloop(*planned).out)
    said = factloop(*words, "--dry-run").out
    assert f"{edited['answered_calls']} of these {edited['calls']} calls have already been answered" in said
    assert sim.stats().model.requests == before
    # Of 13 calls of the other prompt in each of two repeats, the six that read the claims are answered.
    assert edited["calls"] - edited["answered_calls"] == 14
    assert "1 earlier experiment in this run directory used these claims" in " ".join(factloop(*words).out.split())
    assert edited["answered_calls"] == whole["calls"] - (sim.stats().model.requests - before) > whole["calls"] / 2
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name)
    unknown = factloop(*planned)
    assert (unknown.code, "cannot count the answers in run" in unknown.complaint) == (0, True)
    assert json.loads(unknown.out)["answered_calls"] == 0


def test_a_dry_run_changes_nothing_of_the_run_and_leaves_local_judges_alone(
    factloop: Command, plan: Path, home: Path
) -> None:
    words = ("research", "experiment", plan, "--run-dir", "run")
    factloop(*words, "--max-calls", "10")  # some cells are not final
    local = "  local: {model: null, judge: minicheck, allow_download: true}\n  rules: {model: null}\n"
    plan.write_text(PLAN + local, encoding="utf-8")
    before = {path: path.read_bytes() for path in (home / "run").iterdir() if path.name != "lock"}
    said = factloop(*words, "--dry-run")
    assert (said.code, said.err) == (0, "")
    assert " calls have already been answered" in said.out
    read = load_plan(plan)
    cells = asyncio.run(judged_before(read, read.load(), all_settings(read, None, {}), home / "run"))
    assert {one.variant for one in cells} == {"packaged", "strict"}
    assert {path: path.read_bytes() for path in (home / "run").iterdir() if path.name != "lock"} == before


def test_a_gate_in_the_plan_fails_the_build_and_names_the_claims(factloop: Command, plan: Path, home: Path) -> None:
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
    assert missed["claims"] == [f"f0: {row['claim']}"]
    assert f"factloop: {missed['words']}\n" in done.err
    suite = ElementTree.parse(home / "gate.xml").getroot()
    failure = f"f0: {row['claim']}\npage one.html"
    assert (suite.get("tests"), suite.get("failures"), suite.findtext(".//failure")) == ("4", "1", failure)
    names = [case.get("name") for case in suite]
    assert names == [f"strict: {one}" for one in ("accuracy", "tpr >= 0", "flips <= 0", "must_pass")]
    comment = (home / "ci" / "gate.md").read_text(encoding="utf-8")
    assert f"- f0: {row['claim']}\n" in comment
    assert "[Full report](../page%20one.html)" in comment
    piped = factloop("research", "experiment", plan, "--html", "-", "--out", "gate.md")
    assert piped.out.startswith("<!")
    assert "Full report" not in (home / "gate.md").read_text(encoding="utf-8")
    assert "that ends in .xml" in factloop("research", "experiment", plan, "--out", "gate.txt").complaint


def test_a_flip_has_the_very_request_and_reply_of_either_side(factloop: Command, sim: Simulator, home: Path) -> None:
    sim.set(reads_by_words={"sim": 0.6})
    shutil.copytree(EXAMPLE / "variants", home / "variants")
    rows = (EXAMPLE / "claims.jsonl").read_text(encoding="utf-8").splitlines()[:6]
    (home / "claims.jsonl").write_text("\n".join(rows), encoding="utf-8")
    text = (EXAMPLE / "plan.yaml").read_text(encoding="utf-8").replace("repeats: 2", "repeats: 1")
    (home / "plan.yaml").write_text(text, encoding="utf-8")
    done = factloop(
        "research", "experiment", "plan.yaml", "--run-dir", "run", "--html", "page.html", "--json", "r.json"
    )
    assert done.code == 0
    for flip in json.loads((home / "r.json").read_text(encoding="utf-8"))["flips"]:
        (before,), (after,) = (flip[side]["exchanges"] for side in ("first_side", "second_side"))
        assert ("Take each apart" in before[0], "Take each apart" in after[0]) == (False, True)
        assert f"<claim>{flip['claim']}</claim>" in before[0]
        assert [json.loads(one)["verdict"] for _, one in (before, after)] == ["supported", "insufficient"]
    page: Any = lxml.html.document_fromstring((home / "page.html").read_text(encoding="utf-8"))
    heads = [one.get("aria-labelledby") for one in page.xpath("//section")]
    assert heads.index("flips-title") < heads.index("differences-title")
    shown = page.xpath("//details[@class='exchanges']")[0]
    assert shown.getparent().getparent().get("class") == "claim"  # below both sides, not in the column of one
    assert "apart" in " ".join(one.text_content() for one in shown.xpath(".//ins"))
    assert shown.xpath(".//del")
    assert f"{flip['first_side']['claim_id']}, document" in " ".join(done.out.split())


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
    assert "this is not a valid Assessment: unknown field 'label'" in warned
    assert re.fullmatch(r"factloop: \d+ judgements unscored \(--fail-if-unscored\)", done.err.splitlines()[-1])
    assert factloop("research", "experiment", plan, "--quiet").err == ""


def test_a_variant_without_any_verdict_is_an_error_with_its_cause(
    factloop: Command, sim: Simulator, plan: Path, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sim.set(stage_faults={"Assessment": Faults(refusal=1.0)})
    plan.write_text(f'{PLAN}must_pass: [f0]\ndemands: ["tpr >= 0.5", tpr]\n', encoding="utf-8")
    done = factloop("research", "experiment", plan, "--out", "gate.xml")
    cause = "Assessment: I'm sorry, but I can't help with that."
    assert done.code == 3
    assert done.err.splitlines()[-2:] == [
        f"factloop: {name}: no claim could be scored (12 of 12): {cause}" for name in ("packaged", "strict")
    ]
    assert not caplog.records, "once for each variant, not for each claim"
    suite = ElementTree.parse(home / "gate.xml").getroot()
    assert (suite.get("failures"), suite.get("errors"), suite.find(".//failure")) == ("0", "3", None)
    assert {one.get("message") for one in suite.iter("error")} == {f"no verdict: {cause}"}
    assert "TPR undefined" in " ".join(done.out.split())
    sim.set(models=("sim",))
    plan.write_text(PLAN.replace("{prompts: strict}", "{model: 'openai:other'}"), encoding="utf-8")
    assert "variant 'strict': openai:other: " in factloop("research", "experiment", plan).complaint
    assert "without a verdict and excluded from all figures of agreement: Assessment: I" in " ".join(done.out.split())


def test_a_limit_that_is_reached_is_said_once(factloop: Command, plan: Path) -> None:
    done = factloop("research", "experiment", plan, "--max-calls", 7)
    said = "of 24 judgements have no verdict because the limit was reached; set a higher limit and repeat the command"
    assert done.code == 0
    assert re.fullmatch(rf"factloop: (?:20|21) {said}\n", done.err), done.err  # one more where a claim takes two calls
