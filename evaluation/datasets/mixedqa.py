"""Loads MixedQA: questions, several systems' responses, and human judgements (Zheng et al. 2024, section 3).

Each line is a JSON object with `question`, `reference_answers` (a list), `source` (the original data set of the
question), `responses` (a list of `system`, `text`, `human_correct`), and optionally `id`. Other fields are ignored.

The authors' published file (dannalily/TrustScore, `qa_human_check.json`) is a JSON array of objects with `question`,
`answers` and `source`. Their fields `flan`, `llama` and `gpt` contain each system's answer (`pred`) and its judgement
(`human_eval`, "0" or "1").
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from factloop.core.files.jsonl import read_jsonl
from factloop.core.files.rows import Identifier, NotBlank, Row
from factloop.core.files.tables import read_json_array
from factloop.core.records import Record

Label = Literal[0, 1]
SYSTEMS = {"flan": "flan-t5-xxl", "llama": "llama-7b", "gpt": "gpt-3.5-turbo"}
"""The names in the paper, by key in the published file."""
_LABELS = {"0": 0, "1": 1}


def human_label(value: Any) -> Label:
    """Raises ValueError for anything but the numbers 0 and 1."""
    if type(value) is not int or value not in (0, 1):
        raise ValueError("must be the number 0 or 1")
    return 1 if value else 0


class MixedQaResponse(Record):
    """The text may be empty."""

    model_config = ConfigDict(extra="ignore")

    system: NotBlank
    text: str
    human_correct: Annotated[Label, BeforeValidator(human_label)]


class MixedQaItem(Record):
    model_config = ConfigDict(extra="ignore")

    id: Identifier
    question: NotBlank
    reference_answers: Annotated[tuple[str, ...], Field(min_length=1)]
    """Correct answers, best first."""
    source: NotBlank
    responses: Annotated[tuple[MixedQaResponse, ...], Field(min_length=1)]


def load_mixedqa(place: str | Path) -> Iterator[MixedQaItem]:
    """Yields the questions in the order of the file. `-` is standard input.

    Raises DataError during iteration if a row is malformed, if an id or a question from the same source is repeated, or
    if a system answers twice. Before spending money on the items, read all of them.
    """
    ids: dict[str, int] = {}
    questions: dict[tuple[str, str], int] = {}
    for row in read_jsonl(place):
        item = row.numbered().read_as(MixedQaItem)
        for field, first in (
            ("id", ids.setdefault(item.id, row.line)),
            ("question", questions.setdefault((item.source, item.question), row.line)),
        ):
            if first != row.line:
                raise row.error(f"line {first} has the same {field}", field)
        systems = [response.system for response in item.responses]
        for number, system in enumerate(systems):
            if system in systems[:number]:
                raise row.error("an earlier response in this row has the same system", f"responses[{number}].system")
        yield item


def load_published_mixedqa(place: str | Path) -> Iterator[MixedQaItem]:
    """Yields the questions in the order of the file, numbered from `mixedqa-0000`. Raises DataError during iteration if
    an item is malformed or no system answered it."""
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
        raise row.error("must be an object", name)
    label = given.get("human_eval")
    if not isinstance(label, str) or label not in _LABELS:
        raise row.error('must be "0" or "1"', f"{name}.human_eval")
    return {"system": SYSTEMS[name], "text": given.get("pred"), "human_correct": _LABELS[label]}


def load_any_mixedqa(place: str | Path) -> Iterator[MixedQaItem]:
    """Loads MixedQA, in the published layout or factloop's own, from a file or from the folder it was saved in."""
    folder = Path(place)
    if folder.is_dir():
        theirs = folder / "qa_human_check.json"
        place = theirs if theirs.is_file() else folder / "mixedqa.jsonl"
    return load_published_mixedqa(place) if str(place).endswith(".json") else load_mixedqa(place)
