"""`factloop research data join` and `verify --documents`: what LLM-AggreFact and its like leave out, from upstream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from tests.cli.command import Command
from tests.evaluation.datasets.dataset_files import array, jsonl

SENTENCE = {
    "id": "s1",
    "doc_id": "d1",
    "topic": "t",
    "system": "model_A",
    "sent_idx": 1,
    "sentence": "Ada was born in London.",
    "label": 1,
}


def test_the_command_writes_pairs_and_says_what_matched(factloop: Command, home: Path) -> None:
    said = "The red house stands in the old town."
    jsonl(home / "dev.jsonl", *({"dataset": "Lfqa", "doc": "D", "claim": one, "label": 1} for one in (said, "No.")))
    jsonl(
        home / "up.jsonl",
        {"dataset": "Lfqa", "system": "webgpt", "response": said, "response_id": 1, "prompt_id": 2},
    )
    result = factloop(
        "research", "data", "join", "dev.jsonl", "--source", "responses=up.jsonl", "--out", "joined.jsonl"
    )
    assert (result.code, result.err) == (0, "")
    assert "Lfqa" in result.out
    rows = [json.loads(line) for line in (home / "joined.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(one["system"], one["task"], one["label"]) for one in rows] == [
        ("webgpt", "long-form QA", 1),
        (UNKNOWN_SYSTEM, "long-form QA", 1),
    ]
    scored = factloop("research", "verify", "joined.jsonl", "--verifier", "baseline", "--out", "p.jsonl", "--quiet")
    assert (scored.code, scored.err) == (0, "")
    audited = factloop("research", "audit", "p.jsonl", "--resamples", "10", "--json", "-")
    assert json.loads(audited.out)["data"]["systems"] == ["webgpt"]
    wrong = factloop("research", "data", "join", "dev.jsonl", "--source", "up.jsonl", "--out", "x.jsonl")
    assert (wrong.code, "it is KIND=PATH" in wrong.complaint) == (2, True)


@pytest.mark.parametrize("kind", ["tofueval", "refchecker"])
def test_claims_without_documents_are_verified_with_them(factloop: Command, home: Path, kind: str) -> None:
    """Without the file nothing has a score; with it the baseline verifier supports what the document says."""
    if kind == "tofueval":
        place, part = jsonl(home / "tofu.jsonl", SENTENCE), "tofueval:mediasum-dev"
    else:
        triplet = {"triplet": ["Ada", "was born in", "London"], "human_label": "Entailment"}
        item = {"id": "d1", "response": "Ada was born in London.", "claude2_response_kg": [triplet]}
        place, part = array(home / "zero_context" / "nq_gpt4_answers.json", item), "refchecker:annotations"
    jsonl(home / "documents.jsonl", {"id": "d1", "document": "Ada was born in London in 1815."})
    asked = ("research", "verify", "--dataset", part, "--data", place, "--verifier", "baseline", "--quiet")
    assert factloop(*asked, "--out", "none.jsonl").code in (0, 2)
    result = factloop(*asked, "--documents", "documents.jsonl", "--out", "p.jsonl")
    assert (result.code, result.err) == (0, "")
    (row,) = map(json.loads, (home / "p.jsonl").read_text(encoding="utf-8").splitlines())
    assert row["document"] == "Ada was born in London in 1815."
    assert row["evaluators"]["baseline"] > 0.5
    jsonl(home / "documents.jsonl", {"id": "other", "document": "x"})
    missing = factloop(*asked, "--documents", "documents.jsonl", "--out", "q.jsonl")
    assert missing.code == 2
    assert "needs the document 'd1', which is not there" in missing.complaint
    alone = factloop(
        "research", "verify", "p.jsonl", "--documents", "documents.jsonl", "--verifier", "baseline", "--out", "r.jsonl"
    )
    assert "--documents go with --dataset" in alone.complaint
