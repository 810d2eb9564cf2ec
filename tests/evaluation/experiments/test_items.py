from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.experiments.items import Item, load_data
from tests.evaluation.experiments.small_plans import make_plan


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


def test_ids_that_only_their_response_tells_apart_become_longer(home: Path) -> None:
    rows = [{"id": f"{n}", "claim": "A", "claim_id": "1", "response_id": f"r{n}", "system": "s"} for n in range(2)]
    assert [item.run.id for item in load_data(written(home, *rows)).items] == ["s/r0/1", "s/r1/1"]
    with pytest.raises(DataError, match=r"data\.jsonl:3: field 'claim_id': '.*' is already used in line 1"):
        load_data(written(home, *rows, {**rows[0], "id": "x"}))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "A"}, "each row needs `claim`, or `prompt`"),
        ({"claim": " "}, "field 'claim': must be non-empty text"),
        ({"claim": "A", "label": 2}, "field 'label'"),
        ({"response": "A"}, "field 'prompt': must be set"),
        ({"sentences": 3}, "data.jsonl:1"),
        ([], "each line must be a JSON object"),
    ],
)
def test_rubbish_is_named_with_its_place(home: Path, row: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        load_data(written(home, row))
    assert said in str(caught.value)
    assert "data.jsonl" in str(caught.value)


def test_a_labelled_data_set_is_loaded_as_verify_loads_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTLOOP_DATA_DIR", str(home / "none"))
    rows = [
        {"id": "a", "claim": "A", "evidence": ["One.", "Two."], "label": "supported"},
        {"id": "b", "claim": "B", "evidence": ["Three."], "label": "partially_supported"},
    ]
    written(home, *rows)
    plan = make_plan(home, {"only": {}}, data="data.jsonl", dataset="wice:dev")
    data = plan.load()
    assert [(item.run.id, item.gold, texts(item)) for item in data.items] == [
        ("a", (True,), ["One.\nTwo."]),
        ("b", (False,), ["Three."]),
    ]
    assert data.name.startswith("wice:dev (sha256 ")
    with pytest.raises(ConfigError, match="factloop research data get"):
        make_plan(home, {"only": {}}, data="", dataset="wice:dev").load()


def test_responses_to_one_source_are_held_out_together(home: Path) -> None:
    given = {"source_id": "7", "model": "m", "split": "test", "quality": "good", "labels": [], "response": "She wrote."}
    written(home, {"id": "1", **given}, {"id": "2", **given}, name="response.jsonl")
    written(home, {"source_id": "7", "task_type": "QA", "source_info": "Ada wrote."}, name="source_info.jsonl")
    data = load_data(home, "ragtruth:test")
    assert (len(data.items), data.groups) == (2, ["group 7"])
