"""Documents that stand apart from the claims of their data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.datasets.documents import load_documents
from tests.evaluation.datasets.dataset_files import array, jsonl


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"id": "d1", "document": "Text."}, "Text."),
        ({"doc_id": "d1", "text": "Text."}, "Text."),
        ({"id": "d1", "context": ["One.", "Two."]}, "One.\nTwo."),
        ({"id": "d1", "utt": ["Hello.", "Yes."], "speaker": ["A", "B"]}, "A: Hello.\nB: Yes."),
    ],
)
def test_layouts(tmp_path: Path, row: dict[str, Any], text: str) -> None:
    assert load_documents(jsonl(tmp_path / "d.jsonl", row)) == {"d1": text}
    assert load_documents(array(tmp_path / "d.json", row)) == {"d1": text}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"document": "Text."}], "'id': it is missing"),
        ([{"id": "d1"}], "'document': it is missing"),
        ([{"id": "d1", "text": "a"}, {"id": "d1", "text": "b"}], "another row has the same, 'd1'"),
        ([{"id": "d1", "utt": ["a"], "speaker": []}], "lists of one length"),
    ],
)
def test_what_fits_no_layout_is_refused(tmp_path: Path, rows: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(DataError, match=said):
        load_documents(jsonl(tmp_path / "d.jsonl", *rows))
