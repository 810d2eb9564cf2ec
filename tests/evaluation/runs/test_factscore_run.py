"""FActScore's labels through a run and its summary, and the verdicts of a run as an audit's input."""

from __future__ import annotations

import json
from typing import Any

from factloop.core.records import Judgement, UnscoredReason
from factloop.evaluation.runs.reading import predictions_of
from tests.evaluation.runs.finished_runs import judged

UNSCORED = Judgement(unscored_reason=UnscoredReason.BUDGET)


def row(**changes: Any) -> dict[str, Any]:
    facts = [{"text": "Ada lived.", "label": "S"}, {"text": "Ada sang.", "label": "NS"}]
    named = {"id": "r1", "system": "A", "topic": "Ada", "prompt": "Who?", "response": "Ada lived and sang. Hello."}
    said = [{"text": "Ada lived and sang.", "atomic_facts": facts}, {"text": "Hello.", "atomic_facts": None}]
    return {**named, "sentences": said, **changes}


def read(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def test_predictions_are_the_verdicts_on_claims_labelled_supported_or_not() -> None:
    rows = read(predictions_of([judged("p", "snisn", labels="SNSI")], dataset="bio"))
    assert [(one["claim_id"], one["label"], one["evaluators"]) for one in rows] == [
        ("c0", 1, {"sim:judge (fused)": 1}),
        ("c1", 0, {"sim:judge (fused)": 0}),
        ("c2", 1, {"sim:judge (fused)": None}),  # found irrelevant: neither
    ]
    assert {(one["dataset"], one["system"], one["response_id"], one["prompt_id"]) for one in rows} == {
        ("bio", "one", "one/p", "p")
    }
