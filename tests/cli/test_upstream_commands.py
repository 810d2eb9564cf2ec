"""`factloop research data join` and `verify --documents`: what LLM-AggreFact and its like leave out, from upstream."""

from __future__ import annotations

import json
from pathlib import Path

from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from tests.cli.command import Command
from tests.evaluation.datasets.dataset_files import jsonl


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
    assert (wrong.code, "must be KIND=PATH" in wrong.complaint) == (2, True)
