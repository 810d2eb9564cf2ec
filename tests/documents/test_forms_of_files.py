from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.datasets.factscore import AtomicFact, FactScoreResponse, FactScoreSentence, load_factscore
from factloop.evaluation.datasets.responses import OwnDocument, load_responses
from factloop.evaluation.runs.calibration import load_calibration
from factloop.evaluation.runs.labelled import LabelledRow
from tests.documents.shown import DOCS
from tests.evaluation.datasets.dataset_files import jsonl

PAGES = ("scoring.md", "agreement.md", "correcting-figures.md")
PAGE = "\n".join((DOCS / name).read_text(encoding="utf-8") for name in PAGES)


def shown(before: str) -> list[dict[str, Any]]:
    block = re.search(r"```json\n(.+?)\n```", PAGE[PAGE.index(before) :], re.DOTALL)
    assert block is not None
    return [json.loads(line) for line in block[1].splitlines()]


def first_column(before: str, head: str) -> set[str]:
    after = PAGE[PAGE.index(before) :]
    table = after[after.index(f"| {head} |") :].partition("\n\n")[0]
    return {name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])}


def test_the_labelled_responses_of_the_page_are_read(tmp_path: Path) -> None:
    rows = shown("The file has one row per response")
    responses = list(load_factscore(jsonl(tmp_path / "facts.jsonl", *rows)))
    assert [[(fact.label, fact.text) for fact in one.facts] for one in responses] == [
        [
            ("S", "Henry Winstanley began the first tower."),
            ("S", "The first tower was begun in 1696."),
            ("NS", "The first tower was green."),
        ],
        [],
    ]
    assert [one.abstained for one in responses] == [False, True]


def test_the_responses_with_documents_of_the_page_are_read(tmp_path: Path) -> None:
    rows = shown("### Responses with their own documents")
    one, other = (found.documents or () for found in load_responses(jsonl(tmp_path / "retrieved.jsonl", *rows)))
    assert ([each.text for each in one], other[0].source) == (["Smeaton's Tower was lit in 1759."], "a.md")
    assert {f"`{name}`" for name in OwnDocument.model_fields} <= set(re.findall(r"`\w+`", PAGE))


def test_the_page_names_every_field_of_a_labelled_response() -> None:
    known = {*FactScoreResponse.model_fields, *FactScoreSentence.model_fields, *AtomicFact.model_fields}
    named = first_column("The file has one row per response", "field")
    assert known - named == {"text", "label"}, "those of sentences and facts, which the lines of the lists tell"
    assert named <= known
    assert "objects with `text` and `label`" in PAGE


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_the_labelled_claims_of_the_page_are_read(tmp_path: Path, ending: str) -> None:
    rows = shown("### Calibration files")
    place = tmp_path / f"labels.{ending}"
    if ending == "csv":
        lines = [rows[0].keys(), *(("" if value is None else str(value) for value in row.values()) for row in rows)]
        place.write_text("".join(",".join(line) + "\n" for line in lines))
    else:
        jsonl(place, *rows)
    sample = load_calibration(place)
    assert (sample.labels, sample.verdicts, sample.scores) == ((1, 0), (1, None), (0.93, None))
    assert (sample.of_systems, sample.probabilities) == (("careful", "careful"), (0.5, 0.25))
    assert sample.groups == ("Who built the first tower?",) * 2
    assert sample.judges == {"openai:gpt-4o-mini (fused)"}


def test_the_page_names_every_column_of_labelled_claims() -> None:
    rows = shown("### Calibration files")
    named = first_column("### Calibration files", "column | required")
    assert named == set(LabelledRow.model_fields) == {name for row in rows for name in row}
    needed = {name for name, field in LabelledRow.model_fields.items() if field.is_required()}
    assert needed == {"label", "verdict"}
    assert all(f"| `{name}` | yes |" in PAGE for name in needed)


@pytest.mark.parametrize("more", [{}, {"verdict": 1}, {"topic": "t", "prompt": "p", "response": "r"}])
def test_rows_of_claims_are_sent_to_the_commands_that_take_them(tmp_path: Path, more: dict[str, Any]) -> None:
    row = {"claim": "The first tower was green.", "label": 0, "system": "careful", **more}
    with pytest.raises(DataError) as caught:
        list(load_factscore(jsonl(tmp_path / "flat.jsonl", row)))
    assert (caught.value.line, caught.value.field) == (1, "claim")
    for words in (
        "eval RESPONSES --calibration FILE",
        "factloop research experiment",
        "factloop research verify",
        "docs/agreement.md",
    ):
        assert words in str(caught.value)
