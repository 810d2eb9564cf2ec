from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import DataError
from factloop.evaluation.datasets.mixedqa import MixedQaItem, human_label, load_mixedqa

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


@pytest.mark.parametrize(("given_id", "expected"), [(7, "7"), ("x", "x"), (None, "1"), ("", "1")])
def test_an_id_is_a_text(tmp_path: Path, given_id: object, expected: str) -> None:
    (item,) = load(tmp_path, row(id=given_id))
    assert item.id == expected


def test_without_an_id_the_line_is_it(tmp_path: Path) -> None:
    first, second = row(question="Which is the largest?"), row()
    del first["id"], second["id"]
    assert [item.id for item in load(tmp_path, first, second)] == ["1", "2"]


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"question": "  "}, "question", 'a text is needed, not "  "'),
        ({"question": None}, "question", "a text is needed, not null"),
        ({"question": ["x"]}, "question", "a text is needed, not a list"),
        ({"source": 3}, "source", "a text is needed, not 3"),
        ({"id": True}, "id", "a text is needed, not true"),
        ({"reference_answers": "Mercury"}, "reference_answers", 'a list is needed, not "Mercury"'),
        ({"reference_answers": []}, "reference_answers", "at least one is needed, not a list"),
        ({"reference_answers": ["x", 4]}, "reference_answers[1]", "a text is needed, not 4"),
        ({"responses": []}, "responses", "at least one is needed, not a list"),
        ({"responses": {"a": "Mercury"}}, "responses", "a list is needed, not an object"),
        ({"responses": ["Mercury"]}, "responses[0]", 'an object is needed, not "Mercury"'),
        ({"responses": answer(system="")}, "responses[0].system", 'a text is needed, not ""'),
        ({"responses": answer(text=None)}, "responses[0].text", "a text is needed, not null"),
        ({"responses": answer() + answer(text="Venus")}, "responses[1].system", "this system has answered already"),
        *(
            ({"responses": answer(human_correct=label)}, "responses[0].human_correct", f"a label is the number {words}")
            for label, words in [
                (True, "0 or 1, not true"),
                (False, "0 or 1, not false"),
                ("1", '0 or 1, not "1"'),
                (2, "0 or 1, not 2"),
                (-1, "0 or 1, not -1"),
                (1.0, "0 or 1, not 1.0"),
                (0.5, "0 or 1, not 0.5"),
                (None, "0 or 1, not null"),
                ("correct", '0 or 1, not "correct"'),
                ([1], "0 or 1, not a list"),
                ("x" * 100, f'0 or 1, not "{"x" * 39}…'),
            ]
        ),
    ],
)
def test_a_malformed_row_names_file_line_and_field(
    tmp_path: Path, changes: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path, row(), row(**{"id": "q2", "question": "Which is next?", **changes}))
    assert str(caught.value) == f"{tmp_path / 'mixedqa.jsonl'}:2: field '{field}': {message}"
    assert (caught.value.line, caught.value.field) == (2, field)


@pytest.mark.parametrize("name", ["question", "reference_answers", "source", "responses"])
def test_a_missing_field_is_named(tmp_path: Path, name: str) -> None:
    fields = row()
    del fields[name]
    with pytest.raises(DataError, match=rf":1: field '{name}': it is missing$"):
        load(tmp_path, fields)


@pytest.mark.parametrize("name", ["system", "text", "human_correct"])
def test_a_missing_field_of_a_response_is_named(tmp_path: Path, name: str) -> None:
    answers = answer()
    del answers[0][name]
    with pytest.raises(DataError, match=rf":1: field 'responses\[0\].{name}': it is missing$"):
        load(tmp_path, row(responses=answers))


def test_no_question_counts_twice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r":2: field 'id': line 1 has the same$"):
        load(tmp_path, row(), row(question="Which is next?"))
    with pytest.raises(DataError, match=r":2: field 'question': line 1 has the same$"):
        load(tmp_path, row(), row(id="q2"))
    assert len(load(tmp_path, row(), row(id="q2", source="Another quiz"))) == 2


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no row in it"):
        load(tmp_path)


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.lists(st.integers(0, 1)))
def test_the_label_is_total(value: object) -> None:
    """Every value is one of the two labels or refused, and nothing else ever happens."""
    if type(value) is int and value in (0, 1):
        assert human_label(value) == value
    else:
        with pytest.raises(ValueError, match="0 or 1"):
            human_label(value)


def test_the_published_data_are_read_whole() -> None:
    path = DATA / "mixedqa.jsonl"
    if not path.is_file():
        pytest.skip(f"labelled data not found in {DATA}: set FACTLOOP_DATA")
    items = list(load_mixedqa(path))
    assert len(items) == 1000
    assert set(Counter(item.source for item in items).values()) == {200}
    assert {tuple(a.system for a in item.responses) for item in items} == {("flan-t5-xxl", "llama-7b", "gpt-3.5-turbo")}
