from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.datasets.mixedqa import MixedQaItem, load_mixedqa

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))


def row(**changes: Any) -> dict[str, Any]:
    answers = [{"system": "a", "text": "Mercury", "human_correct": 1}, {"system": "b", "text": "", "human_correct": 0}]
    return {
        "id": "q1",
        "question": "Which planet is nearest the sun?",
        "reference_answers": ["Mercury", "the planet Mercury"],
        "source": "Quiz",
        "responses": answers,
        **changes,
    }


def answer(**changes: Any) -> list[dict[str, Any]]:
    return [{"system": "a", "text": "Mercury", "human_correct": 1, **changes}]


def load(folder: Path, *rows: dict[str, Any]) -> list[MixedQaItem]:
    path = folder / "mixedqa.jsonl"
    path.write_text("".join(json.dumps(fields) + "\n" for fields in rows), encoding="utf-8")
    return list(load_mixedqa(path))


def test_a_row_is_a_question_with_its_responses(tmp_path: Path) -> None:
    (item,) = load(tmp_path, row(subject_popularity=12))
    assert (item.id, item.source, item.reference_answers) == ("q1", "Quiz", ("Mercury", "the planet Mercury"))
    assert [(a.system, a.text, a.human_correct) for a in item.responses] == [("a", "Mercury", 1), ("b", "", 0)]


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"question": "  "}, "question", 'a text is needed, not "  "'),
        ({"reference_answers": []}, "reference_answers", "at least one is needed, not a list"),
        ({"reference_answers": ["x", 4]}, "reference_answers[1]", "a text is needed, not 4"),
        ({"responses": []}, "responses", "at least one is needed, not a list"),
        ({"responses": answer(text=None)}, "responses[0].text", "a text is needed, not null"),
        ({"responses": answer() + answer(text="Venus")}, "responses[1].system", "this system has answered already"),
    ],
)
def test_a_malformed_row_names_file_line_and_field(
    tmp_path: Path, changes: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path, row(), row(**{"id": "q2", "question": "Which is next?", **changes}))
    assert str(caught.value) == f"{tmp_path / 'mixedqa.jsonl'}:2: field '{field}': {message}"
    assert (caught.value.line, caught.value.field) == (2, field)


def test_no_question_counts_twice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r":2: field 'id': line 1 has the same$"):
        load(tmp_path, row(), row(question="Which is next?"))
    with pytest.raises(DataError, match=r":2: field 'question': line 1 has the same$"):
        load(tmp_path, row(), row(id="q2"))
    assert len(load(tmp_path, row(), row(id="q2", source="Another quiz"))) == 2


def test_the_published_data_are_read_whole() -> None:
    path = DATA / "mixedqa.jsonl"
    if not path.is_file():
        pytest.skip(f"labelled data not found in {DATA}: set FACTLOOP_DATA")
    items = list(load_mixedqa(path))
    assert len(items) == 1000
    assert set(Counter(item.source for item in items).values()) == {200}
    assert {tuple(a.system for a in item.responses) for item in items} == {("flan-t5-xxl", "llama-7b", "gpt-3.5-turbo")}
