from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import lxml.html
import pytest

from factloop.core.records import Verdict
from factloop.evaluation.experiments.optimise import mistakes_of
from tests.cli.command import Command
from tests.evaluation.experiments.sample import claim, results_of
from tests.simulator import Simulator

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "prompt-experiment"
PLAN = """\
name: search
data: claims.jsonl
held_out: 0.4
optimise: {rounds: 3, proposals: 1}
settings: {model: "openai:sim", max_searches: 2, price_in: 0.15, price_out: 0.60}
variants: {packaged: {}}
"""


@pytest.fixture
def plan(sim: Simulator, home: Path) -> Path:
    sim.set(reads_by_words={"sim": 0.6})
    shutil.copy(EXAMPLE / "claims.jsonl", home / "claims.jsonl")
    (home / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return home / "plan.yaml"


def test_what_is_shown_better_is_kept_and_asked_once_on_claims_that_were_held_out(
    factloop: Command, sim: Simulator, plan: Path, home: Path
) -> None:
    planned = factloop("research", "optimise", plan, "--dry-run").out
    assert "3 proposals, one model call each" in planned
    costs = [float(cost) for cost in re.findall(r"([0-9.]+) USD", planned)]
    assert costs[0] > 0
    assert costs[-1] == pytest.approx(sum(costs[:-1]), rel=0.01)
    assert sim.stats().model.requests == 0
    words = ("research", "optimise", plan, "--run-dir", "run", "--json", "found.json")
    done = factloop(*words, "--html", "page.html")
    assert done.code == 0
    found = json.loads((home / "found.json").read_text(encoding="utf-8"))
    (better,), (useless,), (careless,) = found["rounds"]
    assert (better["is_kept"], useless["is_kept"], careless["is_kept"]) == (True, False, False)
    assert "than start: " in better["words"]
    assert "no difference in balanced accuracy is shown between round-2-1 and kept" in useless["words"].lower()
    difference = re.search(r"diff -u (\S+) (\S+)", done.out.replace("\n", ""))
    assert difference is not None
    assert all(Path(file).is_file() for file in difference.groups())
    assert "<passages>" in careless["refused"]
    before, after = ({one["quantity"]: one["value"] for one in better[at]} for at in ("against", "figures"))
    assert list(after) == ["balanced_accuracy", "tpr", "tnr"]
    assert after["balanced_accuracy"] > before["balanced_accuracy"]
    page: Any = lxml.html.document_fromstring((home / "page.html").read_text(encoding="utf-8"))
    shown = [row.text_content() for row in page.xpath("//section[@aria-labelledby='proposals-title']//tbody/tr")]
    assert [one in row for one, row in zip(("kept", "not kept", "refused"), shown, strict=True)] == [True] * 3
    said = (f"{after['tnr']:.3f}", f"{before['tnr']:.3f} before", better["change"], better["words"])
    assert [one in shown[0] for one in said] == [True] * 4
    kept = Path(found["kept"]) / "safe" / "assessment.md"
    assert "Evidence must state every detail." in kept.read_text(encoding="utf-8")
    assert factloop("prompts", "lint", kept.parents[1]).code == 0
    held_out = found["held_out"]
    assert [one["variant"]["name"] for one in held_out["variants"]] == ["start", "kept"]
    assert (held_out["n_items"], held_out["data"].endswith(", held-out part"), held_out["history"]) == (24, True, [])
    assert found["paid"]["calls"] == sim.stats().model.requests
    assert sim.stats().stages["PromptRevision"].requests == 3
    requests = sim.stats().model.requests
    again = factloop(*words)
    assert (again.code, sim.stats().model.requests) == (0, requests), "the same command pays for nothing again"


def test_a_search_that_keeps_nothing_has_a_page_all_the_same(factloop: Command, plan: Path, home: Path) -> None:
    """With six claims, no proposal can be shown to be better."""
    rows = (home / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    (home / "claims.jsonl").write_text("\n".join(rows[:12]), encoding="utf-8")
    done = factloop("research", "optimise", plan, "--run-dir", "run", "--html", "page.html", "--json", "found.json")
    found = json.loads((home / "found.json").read_text(encoding="utf-8"))
    assert (done.code, found["kept"], found["held_out"]) == (0, None, None)
    page = (home / "page.html").read_text(encoding="utf-8")
    assert "the held-out part was not used" in page
    assert found["rounds"][0][0]["words"][:40] in html.unescape(page)


def test_limits_hold_for_the_whole_search(factloop: Command, sim: Simulator, plan: Path) -> None:
    assert "set --run-dir" in factloop("research", "optimise", plan).complaint
    done = factloop("research", "optimise", plan, "--run-dir", "run", "--max-calls", "40", "--quiet")
    assert (done.code, "raise the limit" in done.complaint) == (2, True)
    assert sim.stats().model.requests == 40
    plan.write_text(PLAN.replace("held_out: 0.4\n", ""), encoding="utf-8")
    assert "nothing is held out" in factloop("research", "optimise", plan, "--run-dir", "run").complaint
    plan.write_text(PLAN.replace("claims.jsonl", "responses.jsonl"), encoding="utf-8")
    rows = [{"prompt": f"Who was {name}?", "response": f"{name} was born in London."} for name in ("Ada", "Mary")]
    plan.with_name("responses.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for words in (("--dry-run",), ("--run-dir", "run")):
        assert "responses.jsonl contains responses" in factloop("research", "optimise", plan, *words).complaint


def test_an_irrelevant_verdict_is_a_mistake_whatever_the_label() -> None:
    claims = [claim("first", str(label), Verdict.IRRELEVANT, gold=label) for label in (True, False)]
    mistakes = list(mistakes_of(results_of(claims, names=("first",))))
    assert ["judged: irrelevant" in one for one in mistakes] == [True, True]
