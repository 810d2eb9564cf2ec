"""Rows of a calibration file beside each other: claims that come twice, and misspelt columns."""

from __future__ import annotations

from dataclasses import replace
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
    said = [one for one in corrected(again).warnings if "say again" in one]
    assert [one.partition(": ")[2] for one in said] == [
        "3 rows that say again what another row says of the same claim of the same response: each claim counts once"
    ]
    assert not any("say again" in one for one in corrected(once).warnings)


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
    assert (sample.labels, sample.n_repeated) == ((0, 1), 0)


@pytest.mark.parametrize("value", [["a", 1], {"a": 1}])
@pytest.mark.parametrize("name", ["dataset", "claim_id"])
def test_columns_that_are_not_ours_may_hold_anything(tmp_path: Path, name: str, value: object) -> None:
    row = {**labelled()[0], name: value}
    sample = load_calibration(jsonl(tmp_path / "c.jsonl", row, {**row, "label": 1, name: "another"}, row))
    assert (sample.labels, sample.n_repeated) == ((0, 1), 1)


@pytest.mark.parametrize("known", [{}, {"group": "p"}, {"system": "one"}])
def test_rows_that_name_no_response_may_say_the_same(tmp_path: Path, known: dict[str, str]) -> None:
    row = {"claim": "a", "label": 1, "verdict": 1, **known}
    assert load_calibration(jsonl(tmp_path / "c.jsonl", row, row)).labels == (1, 1)


def test_claims_of_a_topic_may_be_of_several_responses(tmp_path: Path) -> None:
    row = {"claim": "a", "label": 1, "verdict": 1, "system": "one", "group": "topic"}
    sample = load_calibration(jsonl(tmp_path / "c.jsonl", row, {**row, "label": 0}))
    assert (sample.labels, sample.n_repeated) == ((1, 0), 0)


def test_a_system_without_labels_has_no_figure_of_its_own_run(tmp_path: Path) -> None:
    """What is known of its judge comes from the claims of another, none of which is its own."""
    rows = [{**row, "system": "careful"} for row in labelled()]
    sample = load_calibration(jsonl(tmp_path / "c.jsonl", *rows))
    held = replace(sample, is_own=(True,) * len(rows))
    assert held.for_system("careful").is_own == [True] * len(rows)
    assert held.for_system("modest").is_own == [False] * len(rows)


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
    assert f"is it '{meant}'?" in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["response", "claim_id", "of_system", "document", "id", "日本", "store", "scope", "score2", "fudge", "group_2"],
)
def test_other_columns_are_passed_over(tmp_path: Path, name: str) -> None:
    row = {"label": 1, "verdict": 1, name: "x"}
    assert load_calibration(jsonl(tmp_path / "c.jsonl", row)).labels == (1,)


def test_a_column_near_one_that_is_there_is_passed_over(tmp_path: Path) -> None:
    row = {"label": 1, "verdict": 1, "system": "one", "systems": "x"}
    assert load_calibration(jsonl(tmp_path / "c.jsonl", row)).of_systems == ("one",)
