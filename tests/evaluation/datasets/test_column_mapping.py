from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.datasets.mapping import ColumnMapping, LabelledClaim, load_mapped
from tests.evaluation.datasets.dataset_files import jsonl

MAPPING = ColumnMapping(
    columns={"claim": "Sentence", "label": "verdict", "id": "key"},
    labels={"yes": 1, "no": 0, "False": 0},
    constants={"dataset": "mine"},
)


def row(**changes: Any) -> dict[str, Any]:
    return {"key": 7, "Sentence": "It is so.", "verdict": "yes", "document": "So it is.", "more": 1, **changes}


def load(folder: Path, *rows: dict[str, Any], mapping: ColumnMapping = MAPPING) -> list[LabelledClaim]:
    return list(load_mapped(jsonl(folder / "rows.jsonl", *rows), mapping, LabelledClaim))


def test_columns_become_fields(tmp_path: Path) -> None:
    first, second = load(tmp_path, row(), row(key="b", verdict=False, system="s"))
    assert first == LabelledClaim(id="7", dataset="mine", claim="It is so.", document="So it is.", label=1)
    assert (second.label, second.system) == (0, "s")


@pytest.mark.parametrize(
    ("changes", "column", "message"),
    [
        ({"Sentence": " "}, "Sentence", 'must be non-empty text, not " "'),
        ({"verdict": "maybe"}, "verdict", "add 'maybe' to the mapping, which contains only the labels False, no, yes"),
        ({"verdict": True}, "verdict", "add 'True' to the mapping, which contains only the labels False, no, yes"),
        ({"document": 3}, "document", "must be a string, not 3"),
        ({"key": "a"}, "key", "line 1 has the same id, 'a'"),
        ({"verdict": ...}, "verdict", "there is no such column"),
    ],
)
def test_an_error_names_the_column_of_the_file(
    tmp_path: Path, changes: dict[str, Any], column: str, message: str
) -> None:
    given = {name: value for name, value in row(**{"key": "b", **changes}).items() if value is not ...}
    with pytest.raises(DataError) as caught:
        load(tmp_path, row(key="a"), given)
    assert str(caught.value) == f"{tmp_path / 'rows.jsonl'}:2: field {column!r}: {message}"
    assert caught.value.field == column
