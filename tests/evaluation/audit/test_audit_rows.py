from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factloop.core.errors import DataError
from factloop.core.figure import Undefined
from factloop.evaluation.audit.figures import AuditFigure, Figures
from factloop.evaluation.audit.resampling import CountTable, count
from factloop.evaluation.audit.rows import load_predictions
from factloop.evaluation.audit.table import PredictionTable
from tests.evaluation.audit.prediction_rows import Row, table_of
from tests.evaluation.datasets.dataset_files import jsonl

ROWS: list[dict[str, Any]] = [
    {"dataset": "x", "system": "b", "response_id": "r1", "claim_id": 7, "label": 1, "evaluators": {"e": 0.5, "f": 1}},
    {"dataset": "x", "system": "b", "response_id": "r1", "claim_id": 8, "label": 0, "evaluators": {"e": None}},
    {"dataset": "x", "system": "a", "response_id": "r1", "claim_id": 7, "label": 1, "evaluators": {"g": 0, "e": 0.25}},
]
SHARED = {"task": "summaries", "prompt_id": "p", "claim": "Bern is in Switzerland.", "document": "Of Bern."}
FULL = [{**row, **SHARED, "prompt_id": f"p{place}"} for place, row in zip((1, 1, 2), ROWS, strict=True)]


def changed(place: int, **fields: Any) -> list[dict[str, Any]]:
    return [{**row, **fields} if number == place else row for number, row in enumerate(ROWS)]


def without(place: int, field: str) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if number != place or name != field}
        for number, row in enumerate(FULL)
    ]


def read_back(table: PredictionTable) -> list[dict[str, Any]]:
    return [
        {
            "dataset": table.dataset.names[table.dataset.codes[row]],
            "system": table.system.names[table.system.codes[row]],
            "response_id": table.response.names[table.response.codes[row]],
            "label": int(table.label[row]),
            "evaluators": {
                name: None if math.isnan(scores[row]) else scores[row] for name, scores in table.scores.items()
            },
            "task": table.task and table.task.names[table.task.codes[row]],
            "prompt_id": table.prompt and table.prompt.names[table.prompt.codes[row]],
            "claim": table.claim_text and table.claim_text[row],
            "document": table.document and table.document[row],
        }
        for row in range(table.n_rows)
    ]


def expected(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **dict.fromkeys(SHARED),
            **{name: value for name, value in row.items() if name != "claim_id"},
            "evaluators": {name: row["evaluators"].get(name) for name in "efg"},
        }
        for row in rows
    ]


@pytest.mark.parametrize("rows", [ROWS, FULL])
def test_json_lines_come_back_as_they_were(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    assert read_back(load_predictions(jsonl(tmp_path / "predictions.jsonl", *rows))) == expected(rows)


def test_csv_with_a_column_for_each_evaluator(tmp_path: Path) -> None:
    path = tmp_path / "predictions.CSV"
    flat = [{**row, **{f"evaluator:{name}": row["evaluators"].get(name) for name in "efg"}} for row in FULL]
    with path.open("w", encoding="utf-8", newline="") as file:
        names = [name for name in flat[0] if name != "evaluators"]
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(flat)
    assert read_back(load_predictions(path)) == expected(FULL)


@pytest.mark.parametrize("kind", ["struct", "columns", "json"])
def test_parquet_in_each_layout(tmp_path: Path, kind: str) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet  # type: ignore[import-untyped]  # it ships no types

    evaluators = [{name: row["evaluators"].get(name) for name in "efg"} for row in FULL]
    rows = [{name: value for name, value in row.items() if name != "evaluators"} for row in FULL]
    added = {
        "struct": [{"evaluators": scores} for scores in evaluators],
        "columns": [{f"evaluator:{name}": score for name, score in scores.items()} for scores in evaluators],
        "json": [{"evaluators": json.dumps(scores)} for scores in evaluators],
    }[kind]
    path = tmp_path / "predictions.parquet"
    table = pyarrow.Table.from_pylist([{**row, **more} for row, more in zip(rows, added, strict=True)])
    parquet.write_table(table, path)
    assert read_back(load_predictions(path)) == expected(FULL)


def test_standard_input_and_odd_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\ufeff\n" + json.dumps({**ROWS[0], "response_id": "\ud83d"}) + "\r\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert load_predictions("-").response.names == ("\ufffd",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (changed(1, label=2), ":2: field 'label': must be 1 (attributable) or 0 (unattributable), not 2"),
        (changed(0, evaluators={"e": 1.3}), ":1: field 'evaluators.e': must be a number from 0 to 1, or null, "
         "not 1.3"),
        (changed(2, evaluators={"e": math.nan}), ":3: this line is not JSON: NaN is not a JSON number"),
        (changed(2, dataset=" "), ":3: field 'dataset': must be non-empty text, not \" \""),
        (changed(2, system="s" * 1_001), ":3: field 'system': must have at most 1,000 characters, not \"sss"),
        (changed(0, evaluators={"e" * 1_001: 1}), f":1: field 'evaluators.{'e' * 40}.[key]': must have at most 1,000"),
        (changed(2, claim_id=1.5), ":3: field 'claim_id': must be a string or a whole number, not 1.5"),
        (without(2, "label"), ":3: field 'label': must be set"),
        (without(1, "evaluators"), ":2: field 'evaluators': must be set"),
        (without(2, "task"), ":3: field 'task': is missing here but present in line 1"),
        (without(0, "document"), ":2: field 'document': is present here but missing in line 1"),
        ([*FULL[:2], {**FULL[2], "prompt_id": None}], ":3: field 'prompt_id': is missing here but present in line 1"),
        (changed(0, probability=0.5), ":2: field 'probability': is missing here but present in line 1"),
        (changed(2, probability=1.5), ":3: field 'probability': Input should be less than or equal to 1, not 1.5"),
        (changed(0, probability=5e-324), ":1: field 'probability': Input should be greater than or equal to 0.0000"),
        ([*ROWS, ROWS[1]], ":4: field 'claim_id': '8' is already used in line 2"),
        ([FULL[0], {**FULL[1], "task": "QA"}], ":2: field 'task': data set 'x' has 'summaries' in line 1"),
        ([FULL[0], {**FULL[1], "prompt_id": "q"}], ":2: field 'prompt_id': response 'r1' has 'p1' in line 1"),
        (changed(0, evaluators={})[:1], "field 'evaluators'"),
        (changed(1, evaluators={str(n): 1 for n in range(99)}), ":2: field 'evaluators': there are more than 100 ev"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_by_line_and_field(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DataError) as caught:
        load_predictions(jsonl(tmp_path / "predictions.jsonl", *rows))
    assert message in str(caught.value)
    assert caught.value.path == str(tmp_path / "predictions.jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,evaluator:e\n1,\n", ":2: field 'dataset': is missing, and so are system, response_id, claim_id, "),
        ("dataset,system,response_id,claim_id,label,evaluator:e\nx,a,r,c,yes,\n", ":2: field 'label': must be"),
        ("dataset,system,response_id,claim_id,label,evaluator:e\nx,a,r,c,1,nan\n", ":2: field 'evaluators.e': must be"),
        ("dataset,system,response_id,claim_id,label,evaluators\nx,a,r,c,1,nothing\n", "'evaluators': must be"),
        (f"dataset,system,response_id,claim_id,label,evaluator:e\nx,a,r,c,{'[' * 100_000},1\n", "'label': must be"),
        ("dataset,evaluators,evaluator:e\nx,{},1\n", ":2: field 'evaluators': put scores in `evaluators` or in"),
        ("dataset,system,response_id,claim_id,label,evaluator:e\nx,a,r,c,1,\n", "one row must contain a score"),
        ("dataset,system\n", "the file has no rows"),
    ],
)
def test_what_is_wrong_in_csv(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "predictions.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_predictions(path)
    assert message in str(caught.value)


def test_an_evaluator_without_a_score_is_told_of(tmp_path: Path) -> None:
    rows = [{**row, "evaluators": {**row["evaluators"], "silent": None}} for row in ROWS]
    table = load_predictions(jsonl(tmp_path / "predictions.jsonl", *rows))
    assert sorted(table.scores) == ["e", "f", "g"]
    assert table.without_scores == ("silent",)


def resampled(rows: Sequence[Row], n: int = 40, seed: int = 1) -> CountTable:
    return count(table_of(rows), rng=np.random.default_rng(seed), resamples=n)


@pytest.mark.parametrize("has_prompts", [False, True])
def test_whole_clusters_are_drawn(has_prompts: bool) -> None:
    """Every prompt (or response) has one claim of each label, so every resample does too, in each system."""
    rows = [
        Row(label, {"e": float(label)}, system=system, response=str(place), prompt=str(place) if has_prompts else None)
        for system in "ab"
        for place in range(6)
        for label in (0, 1)
    ]
    labels = resampled(rows, 200).claims.labels
    assert (labels == 6).all()


def test_prompts_that_systems_share_are_drawn_for_both() -> None:
    """System a has one claim a prompt and b two, so b has twice as many of each label in every resample."""
    rows = [
        Row(place % 2, {"e": 1.0}, system=system, response=str(place), prompt=str(place))
        for place in range(8)
        for system in "abb"
    ]
    labels = resampled(rows, 100).claims.labels
    assert (labels[:, 1] == 2 * labels[:, 0]).all()
    assert len(np.unique(labels[:, 0, 0])) > 3
    alone = resampled([Row(**{**vars(row), "prompt": None}) for row in rows], 100).claims.labels
    assert (alone[:, 1] != 2 * alone[:, 0]).any()


def test_what_has_no_interval() -> None:
    nan = math.nan
    values = np.array([[0.5, 0.5, 0.5, nan], [0.4, 0.4, nan, 0.4], [0.6, 0.6, nan, 0.6]])
    figures = Figures(values, np.full(4, 9), np.array([2, 1, 2, 2]))
    found = figures.estimates([Undefined.NO_ATTRIBUTABLE] * 4, 0.95)
    assert [found[0].low, found[0].high] == pytest.approx([0.405, 0.595])
    assert found[1] == AuditFigure(value=0.5, n=9, n_clusters=1)
    assert found[2] == AuditFigure(value=0.5, n=9, n_clusters=2, n_resamples_undefined=2)
    assert found[3] == AuditFigure(value=None, undefined=Undefined.NO_ATTRIBUTABLE, n=9, n_clusters=2)
    alone = Figures(values[:1], np.full(4, 9), np.array([2, 1, 2, 2])).estimates([Undefined.NO_DATASET] * 4, 0.95)
    assert [estimate.low for estimate in alone] == [None] * 4
