"""MixedQA as its authors published it (dannalily/TrustScore, `qa_human_check.json`): one JSON array of questions.

Each has `question`, `answers`, `source`, and under `flan`, `llama` and `gpt` what the system answered (`pred`) and the
judgement on it (`human_eval`, "0" or "1").
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from factloop.core.files.json_array import read_json_array
from factloop.core.files.rows import Row
from factloop.evaluation.datasets.mixedqa import MixedQaItem, load_mixedqa

SYSTEMS = {"flan": "flan-t5-xxl", "llama": "llama-7b", "gpt": "gpt-3.5-turbo"}
"""The published name of each system, and the one that the paper has for it."""
_LABELS = {"0": 0, "1": 1}


def load_published_mixedqa(place: str | Path) -> Iterator[MixedQaItem]:
    """The questions in the order of the file, numbered from `mixedqa-0000`.

    Raises DataError, when it gets there, for a malformed item, and for one that none of the systems answers.
    """
    for number, row in enumerate(read_json_array(place)):
        fields = {
            "id": f"mixedqa-{number:04}",
            "question": row.fields.get("question"),
            "reference_answers": row.fields.get("answers"),
            "source": row.fields.get("source"),
            "responses": [_response(row, name) for name in SYSTEMS if name in row.fields],
        }
        yield row.renamed(fields, {"reference_answers": "answers"}).read_as(MixedQaItem)


def _response(row: Row, name: str) -> dict[str, Any]:
    given = row.fields[name]
    if not isinstance(given, dict):
        raise row.error("an object is needed", name)
    label = given.get("human_eval")
    if not isinstance(label, str) or label not in _LABELS:
        raise row.error('a label is "0" or "1"', f"{name}.human_eval")
    return {"system": SYSTEMS[name], "text": given.get("pred"), "human_correct": _LABELS[label]}


def load_any_mixedqa(place: str | Path) -> Iterator[MixedQaItem]:
    """MixedQA as published or in our own layout, from one file or from the folder that it was put into."""
    folder = Path(place)
    if folder.is_dir():
        theirs = folder / "qa_human_check.json"
        place = theirs if theirs.is_file() else folder / "mixedqa.jsonl"
    return load_published_mixedqa(place) if str(place).endswith(".json") else load_mixedqa(place)
