from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.core.figure import Undefined
from factloop.evaluation.debiasing.records import Method, Transfer
from factloop.evaluation.runs.calibration import calibrate, calibrated, calibration_warnings, load_calibration
from factloop.evaluation.runs.labelled import CalibrationSample
from factloop.evaluation.runs.longform import AbstentionPolicy
from factloop.evaluation.runs.reading import read_run
from factloop.evaluation.runs.records import Calibration, JudgedResponse, RunSummary
from factloop.evaluation.runs.run_claims import RunClaims
from factloop.evaluation.runs.views.calibration import METHOD_WORDS, assumptions
from factloop.evaluation.runs.views.calibration import corrected as shown
from tests.evaluation.datasets.dataset_files import jsonl
from tests.evaluation.runs.finished_runs import fingerprint, judged, summary_of, write_run

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
    return calibrate(sample, lines, ks=ks, transfer=transfer, abstention=abstention)


def test_figures_worked_by_hand() -> None:
    """By error rates (0.6 - 0.2) / (0.8 - 0.2) = 2/3 of the claims are supported. Five responses of four claims hold 3,
    3, 2, 1 and 1 that truly are, and two each that are called so. These do not vary, so that lambda is 0: F1@20 is 2 *
    2 / (4 + 20)."""
    found = correction(WORKED, [judged("p", "sssnn")], transfer=Transfer.VERDICTS)
    assert (found.n_claims, found.n_unscored) == (20, 0)
    (system,) = found.systems
    assert (system.system, system.transfer) == ("one", Transfer.VERDICTS)
    assert system.precision.raw.value == pytest.approx(0.6)
    assert system.precision.adjusted_count.value == pytest.approx(2 / 3)
    (f1,) = system.f1
    assert f1.raw.value == pytest.approx(2 * 3 / (5 + 20))  # precision 3/5, recall 3/20
    assert f1.corrected.value == pytest.approx(1 / 6)


@pytest.mark.parametrize("abstention", AbstentionPolicy)
def test_the_raw_figure_is_that_of_the_run(abstention: AbstentionPolicy) -> None:
    """Under every policy, a response with only irrelevant claims counts as 0 and one without verdicts is left out."""
    said = ["ssn", "", "ii", "??", "sss?"]
    responses = [judged(f"p{n}", verdicts) for n, verdicts in enumerate(said)]
    summary = summary_of(responses, abstention=abstention)
    found = calibrated(summary, WORKED, transfer=Transfer.VERDICTS)
    assert found.calibration is not None
    (f1,) = found.calibration.systems[0].f1
    assert f1.raw.value == pytest.approx(summary.scores.systems[0].at_k[0].f1.value)
    assert f1.n_responses == summary.scores.systems[0].at_k[0].f1.n
    assert (f1.abstentions, f1.n_abstentions, f1.n_failed) == (abstention.value, 2, 1)


def finished(folder: Path, responses: list[JudgedResponse], **changes: Any) -> RunSummary:
    return read_run(write_run(folder, responses, **{"kind": "factscore", **changes})).summary


def test_a_finished_run_yields_its_labelled_claims(tmp_path: Path) -> None:
    responses = [judged("p", "snis?", labels="SNSIN"), judged("q", "n", labels="S", system="two"), judged("r", "s")]
    summary = finished(tmp_path / "b", responses)
    sample = load_calibration(tmp_path / "b")
    assert (sample.labels, sample.verdicts, sample.groups) == ((1, 0, 0, 1), (1, 0, None, 0), ("p", "p", "p", "q"))
    assert sample.responses is not None
    assert len({*sample.responses}) == 2, "two systems answered p and q"
    assert (sample.n_irrelevant, sample.systems) == (2, frozenset({"one", "two"}))
    assert sample.kind == "factscore"
    assert sample.fingerprint == summary.fingerprint
    assert summary.data in sample.data


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"label": True, "verdict": 1}, "label"),
        ({"label": "1", "verdict": 1}, "label"),
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
    assert sample.responses is not None
    assert (sample.responses[0] == sample.responses[1], sample.responses[0] == sample.responses[2]) == (True, False)
    with pytest.raises(ConfigError, match="judge, other; specify which evaluator"):
        load_calibration(place)
    with pytest.raises(ConfigError, match=r"no scores by 'x'; choose from judge, other"):
        load_calibration(place, evaluator="x")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"made_by": fingerprint(snapshots=("sim-2",))}, "judged by another evaluator (snapshots differ)"),
        ({"kind": "responses"}, "The evaluator split this run into claims itself"),
    ],
)
def test_a_run_is_warned_of_what_differs(tmp_path: Path, run: dict[str, Any], said: str) -> None:
    sampled = fingerprint(snapshots=("sim-1",))
    finished(tmp_path / "b", [judged("p", "sn", labels="SS", made_by=sampled)], made_by=sampled)
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


def test_a_system_whose_claims_all_have_a_label_is_its_labels() -> None:
    """Five of nine hold, however the labels were drawn, and nothing is left to estimate; of b only half has a label."""
    labels, chances = (1, 0, 1, 0, 1, 0, 1, 0, 1), (0.3,) * 4 + (0.9,) * 5
    of = CalibrationSample("nine", labels, (1,) * 6 + (0,) * 3, ("p", "q", "r") * 3, of_systems=("a",) * 9)
    sample = replace(of, probabilities=chances, is_own=(True,) * 9)
    whole, half = (
        correction(sample, [judged(name, "ssn" * n, system="a") for name in "pqr"]).systems[0].precision for n in (1, 2)
    )
    assert whole.own_claims is not None
    own = whole.own_claims
    assert [own.value, own.low, own.high] == pytest.approx([5 / 9] * 3)
    assert whole.preferred is Method.DIFFERENCE
    assert half.own_claims is not None
    assert half.own_claims.low != half.own_claims.high
    assert half.preferred is Method.PREDICTION_POWERED


@pytest.mark.parametrize(("n", "preferred"), [(1, Method.DIFFERENCE), (2, Method.PREDICTION_POWERED)])
def test_one_figure_of_a_system_is_shown_as_preferred(n: int, preferred: Method) -> None:
    sample = CalibrationSample("six", (1, 0, 0) * 2, (1, 1, 0) * 2, ("p",) * 3 + ("q",) * 3, is_own=(True,) * 6)
    found = correction(sample, [judged(p, "ssn" * n) for p in "pq"])
    rows = [line.cells[2].text for line in shown(found).lines]
    assert [row for row in rows if "preferred" in row] == [f"{METHOD_WORDS[preferred]}, preferred"]
    assert len(assumptions(found)) == n - 1  # labels of all claims leave nothing to assume


def test_strangers_claims_withhold_the_prediction_powered_figure() -> None:
    """Labels of a: TPR 8/10, FPR 2/10, as in `WORKED`. b, none of whose claims has a label, is called right on 6 of 10.
    By error rates (0.6 - 0.2) / (0.8 - 0.2) = 2/3 of b's claims hold, which says nothing of whole responses."""
    sample = CalibrationSample("of a", LABELS, VERDICTS, WORKED.groups, of_systems=("a",) * 20)
    responses = [judged("p", "sssnn", system="b"), judged("q", "sssnn", system="b")]
    (b,) = correction(sample, responses, transfer=None).systems
    assert b.precision.prediction_powered.undefined is Undefined.NOT_SAMPLED
    assert "--transfer verdicts" in b.precision.prediction_powered.why
    assert (b.precision.preferred, b.transfer, b.is_sampled) == (Method.ADJUSTED_COUNT, Transfer.ERROR_RATES, False)
    assert b.precision.adjusted_count.value == pytest.approx(2 / 3)
    assert b.f1[0].corrected.undefined is Undefined.NOT_SAMPLED
    (said,) = correction(sample, responses, transfer=Transfer.VERDICTS).systems
    assert said.precision.preferred is Method.PREDICTION_POWERED
    assert said.precision.prediction_powered.value is not None
    assert said.f1[0].corrected.value == pytest.approx(1 / 6)
    (own,) = correction(sample, [judged("p", "sssnn", system="a")], transfer=None).systems
    assert (own.precision.preferred, own.transfer) == (Method.PREDICTION_POWERED, Transfer.VERDICTS)


def test_a_file_that_names_its_judge_is_held_against_the_runs(tmp_path: Path) -> None:
    summary = summary_of([judged("p", "sn")])
    own, other = (
        load_calibration(jsonl(tmp_path / f"{n}.jsonl", {"label": 1, "verdict": 1, "judge": name}))
        for n, name in enumerate(("sim:judge (fused)", "sim:judge (paper)"))
    )
    assert [*calibration_warnings(own, summary)] == []
    (warning,) = calibration_warnings(other, summary)
    assert "judged by sim:judge (paper), not by sim:judge (fused)" in warning


# Six claims of a run in three responses, verdicts 4 of 6, labels 3 of 6.
RUN = [judged("p1", "sn", texts="ab"), judged("p2", "sn", texts="ab"), judged("p3", "ss", texts="ab")]
LABEL_ROWS = ((0, 0), (1, 0), (1, 1))


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
        for one, of_one in zip(RUN, LABEL_ROWS, strict=True)
        for claim, label in zip(one.report.claims, of_one, strict=True)
    ]


def corrected(place: Path) -> RunSummary:
    run = RunClaims()
    responses = list(run.seen(RUN))
    return calibrated(summary_of(responses), load_calibration(place), transfer=None, run=run)


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
        ({"judge": "y"}, "judge", 'is "y" here but "x" in line 1'),
        ({"label": 1}, "label", "is 1 here but 0 in line 1 for the same claim of a response"),
        ({"verdict": None}, "verdict", "is null here but 1 in line 1"),
        ({"probability": 0.25}, "probability", "is 0.25 here but 0.5 in line 1"),
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
    ("column", "value"),
    [("system", "x"), ("response_id", "x"), ("claim", "x"), ("claim_id", "c2"), ("claim_id", 0), ("dataset", "x")],
)
def test_other_claims_are_told_apart(tmp_path: Path, column: str, value: str | int) -> None:
    """Those of other systems and responses, and those that a response says twice, which have ids of their own."""
    row = {**labelled()[0], "claim_id": "c1"}
    sample = load_calibration(jsonl(tmp_path / "c.jsonl", row, {**row, "label": 1, column: value}))
    assert sample.labels == (0, 1)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("System", "system"), ("gruop", "group"), ("groups", "group"), ("response-id", "response_id"), ("scor", "score")],
)
def test_a_misspelt_column_is_refused(tmp_path: Path, name: str, meant: str) -> None:
    with pytest.raises(DataError) as caught:
        load_calibration(jsonl(tmp_path / "c.jsonl", {"label": 1, "verdict": 1, "claim": "a", name: "x"}))
    assert (caught.value.line, caught.value.field) == (1, name)
    assert f"did you mean '{meant}'?" in str(caught.value)
