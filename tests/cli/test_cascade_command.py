from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from factloop.checking.cascade.records import CascadeFile
from factloop.core.records import FactualityReport
from tests.cli.command import Command
from tests.simulator import MODEL, Simulator

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet", "jetty", "knoll", "ledge")


def rows(n: int, **more: Any) -> list[dict[str, Any]]:
    """Claims that alternate: stated verbatim by their document, or about something else."""
    found = []
    for number in range(n):
        claim = f"The {WORDS[number % 12]} of {WORDS[number // 12 % 12].title()} was built in {1500 + number}."
        stated = number % 2 == 0
        document = claim if stated else f"Some {number} people live in a town by the sea that has no harbour."
        found.append({"id": str(number), "claim": claim, "document": document, "label": int(stated), **more})
    return found


@pytest.fixture
def labelled(home: Path) -> Path:
    return written(home / "labelled.jsonl", rows(240))


def written(path: Path, items: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


def test_tuning_writes_a_cascade_that_a_check_takes(
    factloop: Command, labelled: Path, sim: Simulator, answer: Path, docs: Path, home: Path
) -> None:
    sim.reset()
    tuned = factloop(
        "research", "cascade", "tune", labelled, "--out", "cascade.json", "--max-error", "0.1", "--html", "curve.html"
    )
    assert tuned.code == 0
    assert "240 labelled claims, 120 of them supported" in " ".join(tuned.out.split())
    cascade = CascadeFile.model_validate_json((home / "cascade.json").read_bytes())
    assert cascade.tuned is not None
    assert cascade.upper is not None
    assert cascade.lower is not None
    assert cascade.tuned.share_sent == 0.0
    assert re.fullmatch(r"labelled.jsonl \(sha256 [0-9a-f]{12}\)", cascade.data)
    page = (home / "curve.html").read_text(encoding="utf-8")
    assert "<table" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    checked = factloop("check", answer, "--model", MODEL, "--docs", docs, "--cascade", "cascade.json", "--json", "-")
    assert checked.code == 0
    report = FactualityReport.model_validate_json(checked.out)
    assert report.cascade is not None
    assert (report.cascade.max_error, report.cascade.confidence) == (0.1, 0.95)
    assert report.cascade.n_looked_at > 0


def test_scores_in_the_file_are_taken_once_they_are_seen_to_be_the_verifiers(
    factloop: Command, labelled: Path, home: Path
) -> None:
    assert factloop("research", "verify", labelled, "--verifier", "baseline", "--out", "scored.jsonl", "-q").code == 0
    assert factloop("research", "cascade", "tune", "scored.jsonl", "--out", "a.json", "-q").code == 0
    assert factloop("research", "cascade", "tune", labelled, "--out", "b.json", "-q").code == 0
    one, other = (json.loads((home / name).read_text(encoding="utf-8")) for name in ("a.json", "b.json"))
    assert one["tuned"] == other["tuned"]
    lines = [json.loads(line) for line in (home / "scored.jsonl").read_text(encoding="utf-8").splitlines()]
    strangers = [{**line, "evaluators": {"baseline": 0.42}} for line in lines]
    written(home / "strangers.jsonl", strangers)
    refused = factloop("research", "cascade", "tune", "strangers.jsonl", "--out", "c.json")
    assert refused.code == 2
    assert "has a score of 0.42, but baseline now gives" in refused.complaint
    assert not (home / "c.json").exists()
