"""`factloop cascade tune`, and `--cascade`: from labelled claims to a check that asks the model less."""

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
    """Claims that their documents state word for word, by turns with claims on something else."""
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
    tuned = factloop("cascade", "tune", labelled, "--out", "cascade.json", "--max-error", "0.1", "--html", "curve.html")
    assert tuned.code == 0
    assert "240 labelled claims, 120 of them supported" in " ".join(tuned.out.split())
    cascade = CascadeFile.model_validate_json((home / "cascade.json").read_bytes())
    assert cascade.tuned is not None
    assert cascade.upper is not None
    assert cascade.lower is not None
    assert cascade.tuned.share_sent == 0.0
    assert re.fullmatch(r"labelled.jsonl \(sha256 [0-9a-f]{12}\)", cascade.data)
    page = (home / "curve.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    checked = factloop("check", answer, "--model", MODEL, "--docs", docs, "--cascade", "cascade.json", "--json", "-")
    assert checked.code == 0
    report = FactualityReport.model_validate_json(checked.out)
    assert report.cascade is not None
    assert (report.cascade.max_error, report.cascade.confidence) == (0.1, 0.95)
    assert report.cascade.n_looked_at > 0


def test_json_on_standard_output_is_the_file(factloop: Command, labelled: Path, home: Path) -> None:
    result = factloop("cascade", "tune", labelled, "--out", "c.json", "--json", "-", "--error", "false_reject")
    assert result.out == (home / "c.json").read_text(encoding="utf-8")
    found = CascadeFile.model_validate_json(result.out)
    assert found.upper is None
    assert found.tuned is not None
    assert found.tuned.accepted.why_none == "no claim is to be accepted cheaply"


def test_too_few_labels_send_everything_to_the_model_and_say_how_many_would_do(factloop: Command, home: Path) -> None:
    few = written(home / "few.jsonl", rows(12))
    result = factloop("cascade", "tune", few, "--out", "c.json")
    assert result.code == 0
    said = " ".join(result.out.split())
    assert "12 labelled claims are too few" in said
    assert re.search(r"(about [\d,]+|no number of labels that people could give) would do", said)
    assert "What to do take a verifier that errs less (--verifier), label some hundreds of claims, lower" in said
    assert "Every claim goes to the model" in said
    assert CascadeFile.model_validate_json((home / "c.json").read_bytes()).upper is None


def test_a_number_of_labels_that_nobody_gives_is_not_named(factloop: Command) -> None:
    example = Path(__file__).parents[2] / "examples" / "prompt-experiment" / "claims.jsonl"
    flags = ("--error", "false_support", "--confidence", 0.8, "--out", "c.json")
    said = " ".join(factloop("cascade", "tune", example, *flags, "--max-error", 0.001).out.split())
    assert "no number of labels that people could give would do" in said
    assert "What to do state a larger error (--max-error 0.2 settles 17 of 60 labelled claims), take" in said
    assert factloop("cascade", "tune", example, *flags, "--max-error", 0.3).code == 0


def test_passages_are_read_as_a_check_reads_them(factloop: Command, home: Path) -> None:
    whole = rows(60)
    cut = [{**item, "passages": item["document"].split(" in "), "document": None} for item in whole]
    joined = [{**item, "document": "\n\n".join(item["document"].split(" in "))} for item in whole]
    for name, items in (("cut", cut), ("joined", joined)):
        written(home / f"{name}.jsonl", items)
        assert factloop("cascade", "tune", f"{name}.jsonl", "--out", f"{name}.json", "-q").code == 0
    one, other = (json.loads((home / f"{name}.json").read_text(encoding="utf-8")) for name in ("cut", "joined"))
    assert one["tuned"] == other["tuned"]


def test_scores_in_the_file_are_taken_once_they_are_seen_to_be_the_verifiers(
    factloop: Command, labelled: Path, home: Path
) -> None:
    assert factloop("verify", labelled, "--verifier", "lexical", "--out", "scored.jsonl", "-q").code == 0
    assert factloop("cascade", "tune", "scored.jsonl", "--out", "a.json", "-q").code == 0
    assert factloop("cascade", "tune", labelled, "--out", "b.json", "-q").code == 0
    one, other = (json.loads((home / name).read_text(encoding="utf-8")) for name in ("a.json", "b.json"))
    assert one["tuned"] == other["tuned"]
    lines = [json.loads(line) for line in (home / "scored.jsonl").read_text(encoding="utf-8").splitlines()]
    strangers = [{**line, "evaluators": {"lexical": 0.42}} for line in lines]
    written(home / "strangers.jsonl", strangers)
    refused = factloop("cascade", "tune", "strangers.jsonl", "--out", "c.json")
    assert refused.code == 2
    assert "has 0.42 of lexical, which gives" in refused.complaint
    assert not (home / "c.json").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": None}, "rows.jsonl:2: field 'label'"),
        ({"label": "maybe"}, "rows.jsonl:2: field 'label'"),
        ({"claim": " "}, "rows.jsonl:2: field 'claim'"),
        ({"passages": ["a"]}, "rows.jsonl:2: field 'passages'"),
        ({"id": "0"}, "rows.jsonl:2: field 'id'"),
        ({"evaluators": {"lexical": 7}}, "rows.jsonl:2: field 'evaluators"),
    ],
)
def test_a_row_that_is_wrong_is_named(factloop: Command, home: Path, changes: dict[str, Any], said: str) -> None:
    items = rows(3)
    items[1] |= changes
    result = factloop("cascade", "tune", written(home / "rows.jsonl", items), "--out", "c.json")
    assert result.code == 2
    assert said in result.complaint
    assert not (home / "c.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--max-error", "0"], "--max-error 0: a share between 0 and 1"),
        (["--max-error", "nan"], "--max-error nan"),
        (["--confidence", "1"], "--confidence 1"),
        (["--verifier", "llm:openai:x"], "calls a server"),
        (["--out", "-"], "--out -"),
        (["--out", "labelled.jsonl"], "labelled.jsonl"),
        (["--json", "no/such/folder/x.json"], "no/such/folder"),
    ],
)
def test_what_makes_no_sense_is_refused(factloop: Command, labelled: Path, arguments: list[str], said: str) -> None:
    before = labelled.read_bytes()
    given = ["--out", "c.json", *arguments]
    result = factloop("cascade", "tune", "labelled.jsonl", *given)
    assert result.code == 2
    assert said in result.complaint
    assert labelled.read_bytes() == before


def test_an_empty_file_and_hostile_text(factloop: Command, home: Path) -> None:
    (home / "empty.jsonl").write_text("", encoding="utf-8")
    assert "empty.jsonl" in factloop("cascade", "tune", "empty.jsonl", "--out", "c.json").complaint
    nasty = "<script>alert(1)</script> {{ 7*7 }} \x1b[31m [red]x[/red] \ud800"
    items = rows(40, response_id=nasty, system=nasty)
    for item in items:
        item["claim"] += nasty
    written(home / "nasty.jsonl", items)
    result = factloop("cascade", "tune", "nasty.jsonl", "--out", "c.json", "--html", "c.html")
    assert result.code == 0
    assert "\x1b" not in result.out
    assert "<script>alert" not in (home / "c.html").read_text(encoding="utf-8")


def test_a_check_with_a_file_that_is_no_cascade_stops_before_anything(
    factloop: Command, sim: Simulator, answer: Path, docs: Path
) -> None:
    result = factloop("check", answer, "--model", MODEL, "--docs", docs, "--cascade", answer)
    assert result.code == 2
    assert "it is not a cascade" in result.complaint
    assert sim.stats().model.requests == 0


def test_claims_in_few_groups_are_said_to_show_little(factloop: Command, home: Path) -> None:
    """A response of ten claims each: 24 of them, below 30."""
    items = [{**row, "response_id": str(int(row["id"]) // 10)} for row in rows(240)]
    tuned = factloop("cascade", "tune", written(home / "few.jsonl", items), "--out", "few.json", "--max-error", "0.2")
    assert tuned.code == 0
    (said,) = CascadeFile.model_validate_json((home / "few.json").read_bytes()).warnings
    assert said.startswith("240 claims in 24 groups that share a document, a response or their wording")
    assert "as one independent claim count 1." in said
    assert said.endswith("so few may hide the kind of document on which the verifier errs.")
