"""The data of an experiment: which layout it is, what pairs up, and what is said of rubbish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.experiments.items import Item, load_data


def written(home: Path, *rows: Any, name: str = "data.jsonl") -> Path:
    path = home / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def texts(item: Item) -> list[str] | None:
    documents = item.run.documents
    return None if documents is None else [one.text for one in documents]


def test_claims_are_grouped_by_response_then_by_document(home: Path) -> None:
    path = written(
        home,
        {"claim": "A", "label": 1, "response_id": "r", "system": "s"},
        {"claim": "B", "label": "0", "document": "D"},
        {"claim": "C", "document": "D"},
        {"claim": "E", "id": "e"},
    )
    data = load_data(path)
    assert data.kind == "claims"
    assert [item.run.id for item in data.items] == ["1", "2", "3", "e"]
    groups = [item.group for item in data.items]
    assert groups[0] == "s/r"
    assert groups[1] == groups[2]
    assert groups[3] == "e"
    assert [item.gold for item in data.items] == [(True,), (False,), (None,), (None,)]
    assert [texts(item) for item in data.items] == [None, ["D"], ["D"], None]
    assert data.name.startswith("data.jsonl (sha256 ")


def test_a_group_of_ones_own_goes_before_response_and_document(home: Path) -> None:
    """Passages that differ a little, as those of searches do, are no independent cases."""
    rows = [{"claim": f"A {n}", "group": "q7", "response_id": f"r{n}", "document": f"D {n}"} for n in range(2)]
    first, second = load_data(written(home, *rows)).items
    assert first.group == second.group == "group q7"


@pytest.mark.parametrize(
    ("column", "known"), [("lable", "label"), ("documents", "document"), ("respnse_id", "response_id")]
)
def test_a_column_that_is_spelt_nearly_as_a_known_one_is_refused(home: Path, column: str, known: str) -> None:
    with pytest.raises(DataError, match=rf"data\.jsonl:2: field '{column}': .*is it '{known}'\?"):
        load_data(written(home, {"claim": "A"}, {"claim": "B", column: 1}))


def test_ids_that_only_their_response_tells_apart_become_longer(home: Path) -> None:
    rows = [{"id": f"{n}", "claim": "A", "claim_id": "1", "response_id": f"r{n}", "system": "s"} for n in range(2)]
    assert [item.run.id for item in load_data(written(home, *rows)).items] == ["s/r0/1", "s/r1/1"]
    with pytest.raises(DataError, match=r"data\.jsonl:3: field 'claim_id': line 1 has the same"):
        load_data(written(home, *rows, {**rows[0], "id": "x"}))


def test_equal_rows_have_one_digest_wherever_they_lie(home: Path) -> None:
    one, other = {"id": "a", "claim": "A", "label": 1}, {"id": "a", "claim": "A", "label": 0}
    assert load_data(written(home, one)).digest == load_data(written(home, one, name="b.jsonl")).digest
    assert load_data(written(home, one)).digest != load_data(written(home, other)).digest


def test_responses_keep_their_documents(home: Path) -> None:
    (item,) = load_data(written(home, {"prompt": None, "response": "A.", "documents": ["D", {"text": "E"}]})).items
    assert texts(item) == ["D", "E"]


def test_csv_is_read_too(home: Path) -> None:
    path = home / "claims.csv"
    path.write_text("id,claim,document,label\nx,A is B.,A is B indeed.,1\n", encoding="utf-8")
    (item,) = load_data(path).items
    assert (item.run.id, item.gold, texts(item)) == ("x", (True,), ["A is B indeed."])


def test_responses_keep_prompt_and_system(home: Path) -> None:
    (item,) = load_data(written(home, {"prompt": "Who?", "response": "Ada.", "system": "s"})).items
    assert (item.run.prompt, item.run.system, item.run.facts, item.group) == ("Who?", "s", None, item.run.id)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "A"}, "a row has `claim`, or `prompt`"),
        ({"claim": " "}, "field 'claim': a text is needed"),
        ({"claim": "A", "label": 2}, "field 'label'"),
        ({"claim": ["A"]}, "field 'claim'"),
        ({"response": "A"}, "field 'prompt': it is missing"),
        ({"sentences": 3}, "data.jsonl:1"),
        ([], "one object a line is needed"),
    ],
)
def test_rubbish_is_named_with_its_place(home: Path, row: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        load_data(written(home, row))
    assert said in str(caught.value)
    assert "data.jsonl" in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n\n", "{", "\x00"])
def test_no_rows_at_all(home: Path, text: str) -> None:
    path = home / "data.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError):
        load_data(path)


def test_a_missing_file_is_named(home: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.jsonl: cannot be read"):
        load_data(home / "nowhere.jsonl")
