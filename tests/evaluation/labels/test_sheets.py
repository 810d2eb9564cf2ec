from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factloop.core.errors import DataError
from factloop.core.records import Verdict
from factloop.evaluation.labels.exporting import ExportedLabels, export_labels
from factloop.evaluation.labels.sheets import seal_of, unsealed
from tests.evaluation.labels.labelled_runs import claim, drawn_from, filled_in, labelled_run

RUN = labelled_run(np.random.default_rng(0), 8, 5)


def saved(place: Path, rows: list[dict[str, str]], **dialect: Any) -> Path:
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]], **dialect)
        writer.writeheader()
        writer.writerows(rows)
    return place


def sheet(folder: Path) -> list[dict[str, str]]:
    place = filled_in(folder / "drawn.csv", drawn_from(RUN, 30, 0), RUN)
    return list(csv.DictReader(io.StringIO(place.read_text(encoding="utf-8"), newline="")))


def exported_after(folder: Path, edit: Callable[[dict[str, str]], Any], n: int = 1) -> ExportedLabels:
    rows = sheet(folder)
    for row in rows[:n]:
        edit(row)
    return export_labels([saved(folder / "edited.csv", rows)])


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("probability", "0.5"),
        ("probability", "0.75001"),
        ("claim", "Another claim."),
        ("response_id", "1-May"),
        ("n_drawn", "31"),
        ("seal", "s-0123456789ab-000000"),
        ("seal", ""),
    ],
)
def test_a_row_that_was_edited_is_refused_by_line(tmp_path: Path, column: str, value: str) -> None:
    with pytest.raises(DataError, match=r"edited\.csv:2: this row has changed since `labels next` wrote it"):
        exported_after(tmp_path, lambda row: row.update({column: value}))


def test_label_comment_sentence_and_passages_may_be_edited(tmp_path: Path) -> None:
    edited = {"label": "1", "comment": "sure", "sentence": "cut", "document": "cut"}
    found = exported_after(tmp_path, lambda row: row.update(edited), 30)
    assert len(found.rows) == 30
    assert {(row["label"], row["comment"], row["document"]) for row in found.rows} == {(1, "sure", "cut")}


@pytest.mark.parametrize("dialect", [{"delimiter": ";"}, {"delimiter": ";", "quoting": csv.QUOTE_ALL}])
def test_a_sheet_of_a_country_with_decimal_commas(tmp_path: Path, dialect: dict[str, Any]) -> None:
    rows = sheet(tmp_path)
    for row in rows:
        row["probability"] = row["probability"].replace(".", ",")
        row["comment"] = "yes; no, perhaps"
    assert rows[0]["probability"] == "0,75"
    found = export_labels([saved(tmp_path / "filled.csv", rows, **dialect)])
    assert [(row["probability"], row["comment"]) for row in found.rows] == [(0.75, "yes; no, perhaps")] * 30


@pytest.mark.parametrize("digits", [15, 9, 7])
@pytest.mark.parametrize("number", [0.9010261468576273, 0.1234565, 0.12345649999, 1.0, 1e-7])
def test_numbers_may_lose_digits_in_a_spreadsheet(number: float, digits: int) -> None:
    assert unsealed(claim(probability=max(round(number, digits), 1e-7)), seal_of(claim(probability=number)))


@pytest.mark.parametrize("verdict", [Verdict.SUPPORTED, Verdict.NOT_SUPPORTED])
@pytest.mark.parametrize("score", [None, 0.0, 0.123457, 1.0])
def test_a_seal_hides_the_verdict_and_gives_it_back(verdict: Verdict, score: float | None) -> None:
    drawn = [claim(claim_id=f"c{n}", verdict=verdict, score=score) for n in range(20)]
    row = [one.model_copy(update={"verdict": None, "score": None}) for one in drawn]
    assert [unsealed(*each) for each in zip(row, map(seal_of, drawn), strict=True)] == drawn
    assert len({seal_of(one)[-6:] for one in drawn}) == 20, "claims that are judged alike do not look alike"


def test_a_text_may_get_an_apostrophe_and_other_white_space() -> None:
    drawn = claim(claim="-5 degrees  were\nmeasured.")
    assert unsealed(claim(claim="'-5 degrees were measured. "), seal_of(drawn))


def test_two_labels_of_a_claim_in_one_sheet_are_refused(tmp_path: Path) -> None:
    rows = sheet(tmp_path)
    with pytest.raises(DataError, match="has two labels in this file"):
        export_labels([saved(tmp_path / "s.csv", [*rows, rows[0]])])
