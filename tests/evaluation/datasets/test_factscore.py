from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.core.records import Counts
from factloop.evaluation.datasets.factscore import FactScoreResponse, count_facts, load_factscore
from tests.evaluation.datasets.dataset_files import jsonl

FACTS = [
    {"text": "Ada lived.", "label": "S"},
    {"text": "Ada sang.", "label": "NS"},
    {"text": "Ada lived.", "label": "IR"},
]
UPSTREAM = {"input": "Who?", "output": "Ada lived."}
BAD = {"text": "Ada lived.", "human-atomic-facts": [{"text": "Ada lived.", "label": "s"}]}


def sentence(**changes: Any) -> dict[str, Any]:
    return {"text": "Ada lived and sang.", "atomic_facts": FACTS, "is_relevant": True, **changes}


def row(**changes: Any) -> dict[str, Any]:
    sentences = [sentence(), sentence(text="Hello.", atomic_facts=None)]
    named = {
        "id": "r1",
        "system": "ChatGPT",
        "topic": "Ada",
        "prompt": "Who?",
        "response": "Ada lived and sang. Hello.",
    }
    return {**named, "sentences": sentences, **changes}


def load(folder: Path, *rows: dict[str, Any]) -> list[FactScoreResponse]:
    return list(load_factscore(jsonl(folder / "bio.jsonl", *rows)))


def test_a_row_is_a_response_with_its_facts(tmp_path: Path) -> None:
    (response,) = load(tmp_path, row())
    assert [fact.label for fact in response.facts] == ["S", "NS", "IR"]
    assert [(fact.text, fact.label) for fact in response.distinct_facts] == [("Ada lived.", "S"), ("Ada sang.", "NS")]
    assert count_facts(response.facts) == Counts(supported=1, not_supported=1, irrelevant=1)
    assert not response.abstained


def test_the_published_layout_says_the_same(tmp_path: Path) -> None:
    annotations = [
        {"text": "Ada lived and sang.", "is-relevant": True, "model-atomic-facts": [], "human-atomic-facts": FACTS},
        {"text": "Hello.", "is-relevant": False, "human-atomic-facts": None},
    ]
    answer = {"input": "Who?", "output": row()["response"], "topic": "Ada", "cat": ["rare", "Europe"]}
    jsonl(tmp_path / "labels" / "ChatGPT.jsonl", {**answer, "annotations": annotations})
    jsonl(tmp_path / "labels" / "InstructGPT.jsonl", {**answer, "annotations": None})
    first, second = load_factscore(tmp_path / "labels")
    (ours,) = load(tmp_path, row(id="factscore-ChatGPT-000"))
    assert first == ours
    assert (second.id, second.system, second.abstained) == ("factscore-InstructGPT-000", "InstructGPT", True)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"sentences": [sentence(atomic_facts=[{"text": "x", "label": "U"}])]}, "sentences[0].atomic_facts[0].label"),
        ({"sentences": [sentence(atomic_facts=[{"text": "", "label": "S"}])]}, "sentences[0].atomic_facts[0].text"),
        ({"sentences": "x"}, "sentences"),
        ({**UPSTREAM, "annotations": "x"}, "annotations"),
        ({**UPSTREAM, "annotations": ["x"]}, "annotations[0]"),
        ({**UPSTREAM, "annotations": [BAD]}, "annotations[0].human-atomic-facts[0].label"),
        ({"annotations": []}, "input"),
        ({"system": ""}, "system"),
    ],
)
def test_a_malformed_response_is_named(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path, row(), row(id="r2", **changes))
    assert (caught.value.line, caught.value.field) == (2, field)
