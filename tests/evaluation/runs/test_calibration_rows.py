"""Rows of a calibration file beside each other: claims that come twice, and misspelt columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factloop.core.errors import DataError
from factloop.evaluation.runs.calibration import calibrated, load_calibration
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.run_claims import RunClaims
from tests.evaluation.datasets.dataset_files import jsonl
from tests.evaluation.runs.finished_runs import judged, summary_of

# Six claims of a run in three responses, verdicts 4 of 6, labels 3 of 6.
RUN = [judged("p1", "sn", texts="ab"), judged("p2", "sn", texts="ab"), judged("p3", "ss", texts="ab")]
LABELS = ((0, 0), (1, 0), (1, 1))


def labelled(**more: Any) -> list[dict[str, Any]]:
    return [
        {
            "claim": claim.text,
            "label": label,
            "verdict": int(claim.judgement.verdict == "supported"),
            "system": one.system,
            "response_id": one.id,
            **more,
        }
        for one, of_one in zip(RUN, LABELS, strict=True)
        for claim, label in zip(one.report.claims, of_one, strict=True)
    ]


def corrected(place: Path) -> RunSummary:
    run = RunClaims()
    responses = list(run.seen(RUN))
    rng = np.random.default_rng(0)
    return calibrated(summary_of(responses), load_calibration(place), transfer=None, rng=rng, resamples=20, run=run)


def alone(summary: RunSummary) -> tuple[float | None, tuple[float, float] | None, int]:
    assert summary.calibration is not None
    found = summary.calibration.systems[0].precision.own_claims
    assert found is not None
    return found.value, found.interval, found.n_labels


def test_a_claim_that_comes_again_counts_once(tmp_path: Path) -> None:
    """3 of 6 are supported. With the first three rows again, which have one such, it was (3 + 1) / 9 = 0.444."""
    rows = labelled()
    once, again = jsonl(tmp_path / "once.jsonl", *rows), jsonl(tmp_path / "again.jsonl", *rows, *rows[:3])
    assert alone(corrected(again)) == alone(corrected(once)) == (0.5, (0.5, 0.5), 6)


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"judge": "y"}, "judge", '"y", but line 1 has "x" for the same claim'),
        ({"label": 1}, "label", "1, but line 1 has 0 for the same claim of the same response"),
        ({"verdict": 0}, "verdict", "0, but line 1 has 1 for"),
        ({"verdict": None}, "verdict", "null, but line 1 has 1 for"),
        ({"probability": 0.25}, "probability", "0.25, but line 1 has 0.5 for"),
    ],
)
def test_rows_that_differ_about_a_claim_are_refused(
    tmp_path: Path, change: dict[str, Any], field: str, said: str
) -> None:
    rows = labelled(probability=0.5, judge="x")
    with pytest.raises(DataError) as caught:
        load_calibration(jsonl(tmp_path / "c.jsonl", *rows, {**rows[0], **change}))
    assert (caught.value.line, caught.value.field) == (7, field)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "second",
    [
        {"system": "two"},
        {"response_id": "another"},
        {"claim": "another"},
        {"claim_id": "c2"},
        {"claim_id": 0},
        {"dataset": "another"},
    ],
)
def test_other_claims_are_told_apart(tmp_path: Path, second: dict[str, Any]) -> None:
    """Those of other systems and responses, and those that a response says twice, which have ids of their own."""
    row = {**labelled()[0], "claim_id": "c1"}
    sample = load_calibration(jsonl(tmp_path / "c.jsonl", row, {**row, "label": 1, **second}))
    assert sample.labels == (0, 1)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sytem", "system"),
        ("System", "system"),
        ("gruop", "group"),
        ("groups", "group"),
        ("response-id", "response_id"),
        ("reponse_id", "response_id"),
        ("scor", "score"),
        ("probabilty", "probability"),
        ("juge", "judge"),
    ],
)
def test_a_misspelt_column_is_refused(tmp_path: Path, name: str, meant: str) -> None:
    with pytest.raises(DataError) as caught:
        load_calibration(jsonl(tmp_path / "c.jsonl", {"label": 1, "verdict": 1, "claim": "a", name: "x"}))
    assert (caught.value.line, caught.value.field) == (1, name)
    assert f"did you mean '{meant}'?" in str(caught.value)
