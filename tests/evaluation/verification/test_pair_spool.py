"""The input looked through before anything is spent, and what the output makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.verification.pairs import PairSpool, PlacedRow, key_of, load_pairs
from factloop.evaluation.verification.records import PairRow, Prediction


def placed(*rows: dict[str, Any]) -> Iterator[PlacedRow]:
    for line, row in enumerate(rows, 1):
        yield line, PairRow.model_validate({"id": str(line), "claim": "c", "document": "d", **row})


def spooled(*rows: dict[str, Any], limit: int | None = None) -> list[Prediction]:
    with PairSpool(placed(*rows), path="pairs.jsonl", default_dataset="mine", limit=limit) as spool:
        return list(spool)


def test_what_is_not_given_is_made_up_and_what_is_stays() -> None:
    one, other = spooled({}, {"dataset": "x", "system": "s", "response_id": 7, "claim_id": "k", "label": 0})
    assert one == Prediction(
        dataset="mine", system="unknown", response_id="1", claim_id="1", claim="c", document="d", evaluators={}
    )
    assert other.key == ("x", "s", "7", "k")
    assert other.label == 0


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([], "pairs.jsonl: it has no rows"),
        ([{"document": ""}, {"document": None}], "pairs.jsonl: field 'document': no row has a document"),
        (
            [{"claim_id": "k", "response_id": "r"}, {}, {"claim_id": "k", "response_id": "r"}],
            "pairs.jsonl:3: field 'claim_id': line 1 has the same, 'k', in the same response",
        ),
        ([{"task": "t"}, {}], "pairs.jsonl:2: field 'task': it stands in some rows only"),
        ([{}, {"prompt_id": "p"}], "pairs.jsonl:2: field 'prompt_id': it stands in some rows only"),
    ],
)
def test_what_the_audit_would_refuse_is_refused_now(rows: list[dict[str, Any]], complaint: str) -> None:
    with pytest.raises(DataError) as caught:
        spooled(*rows)
    assert str(caught.value).startswith(complaint)


def test_a_name_that_has_scores_already_is_refused() -> None:
    rows = placed({}, {"evaluators": {"baseline": 0.5}})
    with PairSpool(rows, path="pairs.jsonl", default_dataset="mine") as spool:
        spool.refuse_scored(["nli:x"])
        with pytest.raises(DataError, match=r"pairs.jsonl:2: field 'evaluators': it already has a score by 'baseline'"):
            spool.refuse_scored(["nli:x", "baseline"])


def test_counts_and_the_digest() -> None:
    def digest(*rows: dict[str, Any]) -> str:
        with PairSpool(placed(*rows), path="p", default_dataset="mine") as spool:
            return spool.digest

    rows: list[dict[str, Any]] = [{"label": 1, "system": "s"}, {"document": " "}, {"label": 0}]
    with PairSpool(placed(*rows), path="p", default_dataset="mine") as spool:
        assert (spool.n, spool.n_labelled, spool.n_blank, spool.n_unnamed) == (3, 2, 1, 2)
        assert [one.claim_id for one in spool] == [one.claim_id for one in spool] == ["1", "2", "3"]
        assert spool.digest == digest(*rows)
    assert digest({}) != digest({"claim": "other"})
    assert len({key_of(one) for one in spooled(*rows)}) == 3


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"claim": " "}, "claim"),
        ({"claim": 5}, "claim"),
        ({"document": ["d"]}, "document"),
        ({"label": 2}, "label"),
        ({"label": 0.5}, "label"),
        ({"evaluators": {"a": 1.5}}, "evaluators.a"),
        ({"evaluators": []}, "evaluators"),
    ],
)
def test_a_bad_row_names_file_line_and_field(tmp_path: Path, row: dict[str, Any], field: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in ({"claim": "c"}, {"claim": "c", **row})))
    with pytest.raises(DataError) as caught:
        list(load_pairs(path))
    assert (caught.value.path, caught.value.line, caught.value.field) == (str(path), 2, field)
