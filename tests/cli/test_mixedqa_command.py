"""`factloop eval mixedqa`: the responses of several systems scored and compared with what people said."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from factloop.schemas import json_schema
from tests.cli.command import Command
from tests.simulator import MODEL, Simulator

SUBJECT = ("--subject-model", MODEL, "--max-checks", 2)


def row(question: str, *responses: tuple[str, str, int], **fields: Any) -> dict[str, Any]:
    said = [{"system": system, "text": text, "human_correct": label} for system, text, label in responses]
    return {"question": question, "reference_answers": ["x"], "source": "test", "responses": said, **fields}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")
    return path


@pytest.fixture
def data(sim: Simulator, home: Path) -> Path:
    """Questions on which one system gives the subject's answers, which are right, and the other wrong ones."""
    subject = sim.subject
    figures = [pair for pair in sim.world.questions[:120] if any(map(str.isdigit, pair.answer))]
    pairs = [pair for pair in figures if subject.knowledge(pair.topic) == "known"][:6]
    rows = []
    for number, pair in enumerate(pairs):
        wrong = pair.wrong(random.Random(number))
        right_first = number % 2 == 0
        one, other = (pair.answer, wrong) if right_first else (wrong, pair.answer)
        rows.append(row(pair.question, ("llama-7b", one, int(right_first)), ("flan-t5", other, int(not right_first))))
    return write(home / "mixedqa.jsonl", rows)


def test_scores_are_correlated_with_what_people_said(factloop: Command, data: Path, home: Path) -> None:
    result = factloop("eval", "mixedqa", "--data", data, *SUBJECT, "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    for part in ("llama-7b", "flan-t5", "TrustBC"):
        assert part in result.out
    assert (home / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    found = json.loads(factloop("eval", "mixedqa", "--data", data, *SUBJECT, "--json", "-").out)
    schema = json_schema("mixedqa_result")
    jsonschema.validate(found, schema)
    assert found["n_questions"] == 6
    by_name = {(one["metric"], one["system"]): one["correlation"] for one in found["correlations"]}
    assert by_name["trust_bc", None]["value"] == pytest.approx(1.0)  # the subject knows all that people knew
    assert by_name["trust_bc", None]["n"] == 12
    digest = hashlib.sha256(data.read_bytes()).hexdigest()[:12]
    assert found["data"] == f"mixedqa.jsonl (sha256 {digest})"


def test_each_system_has_a_subject_of_its_own_in_one_run(
    factloop: Command, sim: Simulator, data: Path, home: Path
) -> None:
    """Two names for the simulated model: each must be asked about the responses of its own system alone."""
    sim.set(models=("sim", "sim-a"))
    own = ("--subject", f"llama-7b=openai:sim-a@{sim.base_url}", "--subject", f"flan-t5={MODEL}")
    flags = ("--data", data, *own, "--max-checks", 2)
    result = factloop("eval", "mixedqa", *flags, "--run-dir", "run", "--json", "own.json", "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    found = json.loads((home / "own.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, json_schema("mixedqa_result"))
    assert {one["system"]: one["model"] for one in found["subjects"]} == {
        "llama-7b": "openai:sim-a",
        "flan-t5": MODEL,
    }
    assert found["fingerprint"]["subject_model"] is None
    reports = json.loads((home / "run" / "report.json").read_text(encoding="utf-8"))["reports"]
    asked = {(report["id"].rpartition("/")[2], report["fingerprint"]["subject_model"]) for report in reports}
    assert asked == {("llama-7b", "openai:sim-a"), ("flan-t5", MODEL)}
    text = " ".join(result.out.split())
    assert "openai:sim-a about those of llama-7b" in text
    assert "Subject of llama-7b" in (home / "page.html").read_text(encoding="utf-8")
    n_paid = sim.stats().model.requests
    again = json.loads(factloop("eval", "mixedqa", *flags, "--run-dir", "run", "--json", "-").out)
    assert again["correlations"] == found["correlations"]
    assert sim.stats().model.requests == n_paid  # one run directory holds the answers of all subjects
    turned = ("--subject", f"llama-7b={MODEL}", "--subject", "flan-t5=openai:sim-a", "--max-checks", 2)
    other = factloop("eval", "mixedqa", "--data", data, *turned, "--run-dir", "run")
    assert other.code == 2  # other subjects are another run


def test_metrics_need_neither_model_nor_documents(factloop: Command, home: Path) -> None:
    answers = [("king Solomon built it", 1), ("Herod", 0), ("a  Solomon!", 1), ("nobody", 0)]
    rows = [
        row(f"Who built temple {place}?", ("one", text, label), reference_answers=["Solomon"])
        for place, (text, label) in enumerate(answers)
    ]
    path = write(home / "mixed.jsonl", rows)
    result = factloop("eval", "mixedqa", "--data", path, "--metric", "em", "--metric", "rouge-l", "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    assert "TrustBC" not in result.out
    assert "ROUGE-L" in (home / "page.html").read_text(encoding="utf-8")
    found = json.loads(factloop("eval", "mixedqa", "--data", path, "--metric", "em", "--json", "-").out)
    # exact matches 0 0 1 0 with labels 1 0 1 0: (1/4 - 1/4 * 1/2) / sqrt(3/16 * 1/4)
    of_one = found["reference"][0]
    assert (of_one["metric"], of_one["system"], of_one["correlation"]["n"]) == ("Exact Match", "one", 4)
    assert of_one["correlation"]["value"] == pytest.approx(0.125 / (3 / 64) ** 0.5)
    ranks = json.loads(
        factloop("eval", "mixedqa", "--data", path, "--metric", "em", "--method", "kendall", "--json", "-").out
    )
    assert {one["correlation"]["method"] for one in ranks["reference"]} == {"kendall"}
