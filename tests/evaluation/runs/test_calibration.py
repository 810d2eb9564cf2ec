"""Labelled claims, wherever they come from, and what they make of a run: worked by hand, and what it is warned of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.core.figure import Undefined
from factloop.core.files.json import to_json
from factloop.evaluation.debiasing.records import Method, Transfer
from factloop.evaluation.runs.calibration import calibrate, calibrated, calibration_warnings, load_calibration
from factloop.evaluation.runs.labelled import CalibrationSample
from factloop.evaluation.runs.longform import AbstentionPolicy
from factloop.evaluation.runs.records import Calibration, JudgedResponse, RunSummary
from tests.evaluation.datasets.dataset_files import jsonl
from tests.evaluation.runs.finished_runs import fingerprint, judged, summary_of

# Of 10 claims called supported 8 are, of 10 others 2 are: TPR 8/10, FPR 2/10.
LABELS, VERDICTS = (1,) * 8 + (0,) * 2 + (1,) * 2 + (0,) * 8, (1,) * 10 + (0,) * 10
WORKED = CalibrationSample("by hand", LABELS, VERDICTS, tuple(f"g{n % 5}" for n in range(20)))


def rows(*fields: tuple[int, int | None]) -> list[dict[str, Any]]:
    return [{"label": label, "verdict": verdict} for label, verdict in fields]


def correction(
    sample: CalibrationSample,
    responses: list[JudgedResponse],
    ks: tuple[int, ...] = (20,),
    *,
    transfer: Transfer | None = Transfer.VERDICTS,
    abstention: AbstentionPolicy = AbstentionPolicy.ZERO,
) -> Calibration:
    lines = [one.counted for one in responses]
    rng = np.random.default_rng(0)
    return calibrate(sample, lines, ks=ks, transfer=transfer, abstention=abstention, rng=rng, resamples=50)


@pytest.mark.parametrize(
    ("transfer", "truly"),
    # 6 of 10 claims are called supported. By verdicts: 6 x 0.8 + 4 x 0.2 = 5.6 truly are. By error rates: the share is
    # (0.6 - 0.2) / (0.8 - 0.2) = 2/3 of 10.
    [(Transfer.VERDICTS, 5.6), (Transfer.ERROR_RATES, 20 / 3)],
)
def test_figures_worked_by_hand(transfer: Transfer, truly: float) -> None:
    found = correction(WORKED, [judged("p", "ssssssnnnn")], transfer=transfer)
    assert (found.n_claims, found.n_unscored) == (20, 0)
    (system,) = found.systems
    assert (system.system, system.transfer) == ("one", transfer)
    assert system.precision.raw.value == pytest.approx(0.6)
    assert system.precision.adjusted_count.value == pytest.approx(2 / 3)
    (f1,) = system.f1
    assert f1.raw.value == pytest.approx(2 * 6 / (10 + 20))  # precision 6/10, recall 6/20
    assert f1.corrected.value == pytest.approx(2 * truly / (10 + 20))


@pytest.mark.parametrize("abstention", AbstentionPolicy)
def test_the_raw_figure_is_that_of_the_run(abstention: AbstentionPolicy) -> None:
    """Whatever the policy: a response of irrelevant claims alone counts as 0, one without any verdict never counts."""
    said = ["ssn", "", "ii", "??", "sss?"]
    responses = [judged(f"p{n}", verdicts) for n, verdicts in enumerate(said)]
    summary = summary_of(responses, abstention=abstention)
    found = calibrated(summary, WORKED, transfer=Transfer.VERDICTS, rng=np.random.default_rng(0), resamples=20)
    assert found.calibration is not None
    (f1,) = found.calibration.systems[0].f1
    assert f1.raw.value == pytest.approx(summary.scores.systems[0].at_k[0].f1.value)
    assert f1.n_responses == summary.scores.systems[0].at_k[0].f1.n
    assert (f1.abstentions, f1.n_abstentions, f1.n_failed) == (abstention.value, 2, 1)


def finished(folder: Path, responses: list[JudgedResponse], **changes: Any) -> RunSummary:
    summary = summary_of(responses, **{"kind": "factscore", **changes})
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    (folder / "summary.json").write_text(to_json(summary))
    (folder / "reports.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in responses))
    return summary


def test_a_finished_run_yields_its_labelled_claims(tmp_path: Path) -> None:
    responses = [judged("p", "snis?", labels="SNSIN"), judged("q", "n", labels="S", system="two"), judged("r", "s")]
    summary = finished(tmp_path / "b", responses)
    sample = load_calibration(tmp_path / "b")
    assert (sample.labels, sample.verdicts, sample.groups) == ((1, 0, 0, 1), (1, 0, None, 0), ("p", "p", "p", "q"))
    assert (sample.n_irrelevant, sample.systems) == (2, frozenset({"one", "two"}))
    assert sample.kind == "factscore"
    assert sample.fingerprint == summary.fingerprint
    assert summary.data in sample.data


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"label": 2, "verdict": 1}, "label"),
        ({"label": True, "verdict": 1}, "label"),
        ({"label": "1", "verdict": 1}, "label"),
        ({"label": None, "verdict": 1}, "label"),
        ({"label": 1, "verdict": 0.5}, "verdict"),
        ({"label": 1, "verdict": "supported"}, "verdict"),
        ({"label": 1}, "verdict"),
        ({"label": 1, "verdict": 1, "group": "a"}, "group"),
        ({"label": 1, "verdict": 1, "group": ""}, "group"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, row: dict[str, Any], field: str) -> None:
    with pytest.raises(DataError) as caught:
        load_calibration(jsonl(tmp_path / "rows.jsonl", *rows((1, 1)), row))
    assert (caught.value.line, caught.value.field) == (2, field)


def prediction(claim: int, label: int, score: float | None, **more: Any) -> dict[str, Any]:
    named = {"dataset": "d", "system": "s", "response_id": "r", "claim_id": str(claim), "label": label}
    return {**named, "evaluators": {"judge": score, "other": 0.0}, **more}


def test_one_evaluator_of_an_audit_is_a_calibration(tmp_path: Path) -> None:
    place = jsonl(
        tmp_path / "predictions.jsonl",
        prediction(1, 1, 0.5, prompt_id="p"),
        prediction(2, 0, 0.49, prompt_id="p"),
        prediction(3, 1, None, prompt_id="q", response_id="t"),
    )
    sample = load_calibration(place, evaluator="judge")
    assert (sample.labels, sample.verdicts, sample.groups) == ((1, 0, 1), (1, 0, None), ("p", "p", "q"))
    assert sample.systems == {"s"}
    with pytest.raises(ConfigError, match="judge, other; name the evaluator"):
        load_calibration(place)
    with pytest.raises(ConfigError, match=r"no evaluator 'x'; known are judge, other"):
        load_calibration(place, evaluator="x")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"made_by": fingerprint(model="sim:another")}, "another evaluator judged (model differ)"),
        ({"made_by": fingerprint(prompts={"safe/rating": "0"})}, "another evaluator judged (prompts differ)"),
        ({"kind": "responses"}, "the claims of this run are the evaluator's own"),
    ],
)
def test_a_run_is_warned_of_what_differs(tmp_path: Path, run: dict[str, Any], said: str) -> None:
    finished(tmp_path / "b", [judged("p", "sn", labels="SS")])
    summary = summary_of([judged("p", "sn")], **{"kind": "factscore", **run})
    (warning,) = calibration_warnings(load_calibration(tmp_path / "b"), summary)
    assert said in warning
    assert "2 labelled claims" in warning


def test_a_system_is_corrected_by_its_own_claims_where_it_has_some() -> None:
    """All of a's labelled claims hold and none of b's; c has none of its own, so that half of all 20 hold."""
    verdicts = (1, 0) * 10
    sample = CalibrationSample("two", (1,) * 10 + (0,) * 10, verdicts, None, of_systems=("a",) * 10 + ("b",) * 10)
    found = correction(sample, [judged("p", "sn", system=name) for name in "abc"])
    assert [one.precision.prediction_powered.value for one in found.systems] == pytest.approx([1.0, 0.0, 0.5])
    assert [one.precision.prediction_powered.n_labels for one in found.systems] == [10, 10, 20]
    assert [one.f1[0].corrected.n_labels for one in found.systems] == [10, 10, 20]


def test_strangers_claims_withhold_the_prediction_powered_figure() -> None:
    """Labels of a: TPR 8/10, FPR 2/10, as in `WORKED`. b, none of whose claims has a label, is called right on 6 of 10.

    By error rates (0.6 - 0.2) / (0.8 - 0.2) = 2/3 of b's claims hold, and F1@20 is 2 * 20/3 / (10 + 20). If --transfer
    says that claims of b with either verdict are right as often as a's, 0.6 * 0.8 + 0.4 * 0.2 = 0.56 of them do.
    """
    sample = CalibrationSample("of a", LABELS, VERDICTS, WORKED.groups, of_systems=("a",) * 20)
    responses = [judged("p", "ssssssnnnn", system="b"), judged("q", "ssssssnnnn", system="b")]
    (b,) = correction(sample, responses, transfer=None).systems
    assert b.precision.prediction_powered.undefined is Undefined.NOT_SAMPLED
    assert "--transfer verdicts" in b.precision.prediction_powered.why
    assert (b.precision.preferred, b.transfer, b.is_sampled) == (Method.ADJUSTED_COUNT, Transfer.ERROR_RATES, False)
    assert b.precision.adjusted_count.value == pytest.approx(2 / 3)
    assert b.f1[0].corrected.value == pytest.approx(2 * (20 / 3) / (10 + 20))
    (said,) = correction(sample, responses, transfer=Transfer.VERDICTS).systems
    assert said.precision.preferred is Method.PREDICTION_POWERED
    assert said.precision.prediction_powered.value is not None
    assert said.f1[0].corrected.value == pytest.approx(2 * 5.6 / (10 + 20))
    (own,) = correction(sample, [judged("p", "ssssssnnnn", system="a")], transfer=None).systems
    assert (own.precision.preferred, own.transfer) == (Method.PREDICTION_POWERED, Transfer.VERDICTS)


def test_a_file_that_names_its_judge_is_held_against_the_runs(tmp_path: Path) -> None:
    """The run's is `sim:judge (fused)`."""
    summary = summary_of([judged("p", "sn")])
    own, other = (
        load_calibration(jsonl(tmp_path / f"{n}.jsonl", {"label": 1, "verdict": 1, "judge": name}))
        for n, name in enumerate(("sim:judge (fused)", "sim:judge (paper)"))
    )
    assert calibration_warnings(own, summary) == ()
    (warning,) = calibration_warnings(other, summary)
    assert "sim:judge (paper) judged, not sim:judge (fused)" in warning
