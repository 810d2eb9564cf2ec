"""Labelled claims, wherever they come from, and what they make of a run: worked by hand, and what it is warned of."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from factloop.core.errors import ConfigError, DataError, FactloopError
from factloop.core.figure import Undefined
from factloop.core.files.json import to_json
from factloop.evaluation.debiasing.records import Method, Transfer
from factloop.evaluation.runs.calibration import calibrate, calibrated, calibration_warnings, load_calibration
from factloop.evaluation.runs.calibration_sample import CalibrationSample
from factloop.evaluation.runs.longform_records import AbstentionPolicy
from factloop.evaluation.runs.records import Calibration, JudgedResponse, RunSummary
from factloop.evaluation.runs.views.calibration_terminal import print_calibration
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


def test_the_figures_of_a_system_are_the_same_whichever_others_are_in_the_run() -> None:
    def answers(system: str, verdicts: str) -> list[JudgedResponse]:
        return [judged(f"p{n}", verdicts[n % 3 :], system=system) for n in range(30)]

    others, last = [*answers("a", "ssnnn"), *answers("b", "sssss")], answers("c", "sssnn")
    (alone,) = correction(WORKED, last).systems
    assert alone.f1[0].corrected.interval is not None
    assert correction(WORKED, [*others, *last]).systems[-1] == alone


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


def test_systems_are_corrected_apart_by_the_same_claims() -> None:
    found = correction(WORKED, [judged("p", "ss", system="b"), judged("p", "sn", system="a")], (1, 2))
    assert [one.system for one in found.systems] == ["a", "b"]
    assert [one.precision.raw.value for one in found.systems] == [0.5, 1.0]
    assert [[f1.k for f1 in one.f1] for one in found.systems] == [[1, 2]] * 2


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


def test_the_order_of_the_run_changes_nothing() -> None:
    responses = [judged(f"p{n}", verdicts, system=system) for n, verdicts in enumerate(["sn", "ss"]) for system in "ab"]
    assert correction(WORKED, responses) == correction(WORKED, responses[::-1])


def test_without_a_labelled_claim_that_has_a_verdict_there_is_no_correction() -> None:
    found = correction(CalibrationSample("x", (1, 0), (None, None)), [judged("p", "sn")])
    assert (found.n_claims, found.n_unscored) == (2, 2)
    assert found.systems[0].precision.prediction_powered.undefined is Undefined.NO_LABELS
    assert found.systems[0].f1[0].corrected.undefined is Undefined.NO_LABELS


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


def test_raw_f1_has_one_interval_on_a_page() -> None:
    """That of the run's scores, not one of the correction's own resamples, which end a little elsewhere."""
    responses = [judged(f"p{n}", "s" * (n % 5 + 1) + "n" * (n % 3)) for n in range(12)]
    summary = summary_of(responses)
    found = calibrated(summary, WORKED, transfer=Transfer.VERDICTS, rng=np.random.default_rng(0), resamples=50)
    assert found.calibration is not None
    of_scores = {at.k: at.f1.interval for at in summary.scores.systems[0].at_k}
    assert {one.k: one.raw.interval for one in found.calibration.systems[0].f1} == of_scores
    assert None not in of_scores.values()


def test_a_run_without_labels_is_no_calibration(tmp_path: Path) -> None:
    finished(tmp_path / "a", [judged("p", "sn")])
    with pytest.raises(ConfigError, match="no claim of this run has a label"):
        load_calibration(tmp_path / "a")
    with pytest.raises(ConfigError, match="no run"):
        load_calibration(tmp_path)
    with pytest.raises(ConfigError, match="a run has one evaluator"):
        load_calibration(tmp_path / "a", evaluator="x")


def test_rows_of_any_kind_of_file_say_the_same(tmp_path: Path) -> None:
    made: list[dict[str, Any]] = [
        {"label": 1, "verdict": 0, "group": "a"},
        {"label": 0, "verdict": None, "group": 7},
    ]
    (tmp_path / "rows.csv").write_text("label,verdict,group,other\n1,0,a,x\n0,,7,\n")
    for place in (jsonl(tmp_path / "rows.jsonl", *made), tmp_path / "rows.csv"):
        sample = load_calibration(place)
        assert (sample.labels, sample.verdicts, sample.groups) == ((1, 0), (0, None), ("a", "7"))
        assert sample.data.startswith(f"{place.name} (sha256 ")
    assert load_calibration(jsonl(tmp_path / "plain.jsonl", *rows((1, 1)))).groups is None


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


@pytest.mark.parametrize(("text", "said"), [("", "no row"), ("{", "not JSON"), ("\0\1", "not JSON")])
def test_what_is_no_calibration_says_so(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(DataError, match=said):
        load_calibration(tmp_path / "x.jsonl")
    with pytest.raises(DataError, match="cannot be read"):
        load_calibration(tmp_path / "absent.jsonl")


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
    with pytest.raises(ConfigError, match=r"no evaluator 'x', but judge, other"):
        load_calibration(place, evaluator="x")


def test_claims_of_one_response_are_a_group_where_there_are_no_prompts(tmp_path: Path) -> None:
    made = [prediction(1, 1, 1.0), prediction(2, 1, 1.0), prediction(1, 1, 1.0, response_id="t")]
    groups = load_calibration(jsonl(tmp_path / "p.jsonl", *made), evaluator="judge").groups
    assert groups is not None
    assert groups[0] == groups[1] != groups[2]


def test_a_run_corrected_by_its_own_claims_needs_no_warning(tmp_path: Path) -> None:
    summary = finished(tmp_path / "b", [judged("p", "sn", labels="SS"), judged("q", "sn", labels="SN")])
    assert calibration_warnings(load_calibration(tmp_path / "b"), summary) == ()


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


def test_labels_of_prompts_of_the_run_are_its_own(tmp_path: Path) -> None:
    given = [{"label": n % 2, "verdict": n % 2, "group": f"p{n % 4}"} for n in range(20)]
    sample = load_calibration(jsonl(tmp_path / "own.jsonl", *given))
    (own,) = correction(sample, [judged("p1", "sn")], transfer=None).systems
    (other,) = correction(sample, [judged("elsewhere", "sn")], transfer=None).systems
    assert (own.is_sampled, other.is_sampled) == (True, False)
    named = load_calibration(jsonl(tmp_path / "named.jsonl", *({**one, "system": "one"} for one in given)))
    assert correction(named, [judged("elsewhere", "sn")], transfer=None).systems[0].is_sampled


def test_lambda_is_shown_with_the_share_of_the_labels_alone() -> None:
    """The value is (1 - lambda) of the labelled claims' own precision, 0.5, and lambda of the run put right by them.

    The run has 12 of 20 called supported, the labelled claims 10 of 20: put right it is 0.6 + (0.5 - 0.5) = 0.6.
    """
    responses = [judged(f"p{n}", "sssnn", system="b") for n in range(4)]
    (found,) = correction(WORKED, responses).systems
    powered = found.precision.prediction_powered
    assert powered.weight is not None
    assert powered.label_share is not None
    assert powered.label_share == pytest.approx(1 - powered.weight)
    assert powered.value == pytest.approx(powered.label_share * 0.5 + powered.weight * 0.6)
    console = Console(width=200, record=True, file=io.StringIO())
    print_calibration(correction(WORKED, responses), console)
    shown = console.export_text()
    assert f"λ {powered.weight:.2f}: {powered.label_share:.0%} from labels alone" in shown
    assert "prediction-powered, preferred" in shown


def test_a_run_is_warned_of_strangers_and_of_an_unknown_judge(tmp_path: Path) -> None:
    sample = load_calibration(jsonl(tmp_path / "p.jsonl", prediction(1, 1, 1.0)), evaluator="judge")
    unknown, strangers = calibration_warnings(sample, summary_of([judged("p", "sn")]))
    assert "does not say who judged" in unknown
    assert "None of the labelled claims is from one" in strangers


def test_every_error_of_a_calibration_is_ours(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"no parquet")
    for place in (tmp_path / "x.parquet", tmp_path / "a\0b", tmp_path / ("x" * 300)):
        with pytest.raises(FactloopError):
            load_calibration(place)


def test_a_file_that_names_its_judge_is_held_against_the_runs(tmp_path: Path) -> None:
    """The run's is `sim:judge (fused)`."""
    summary = summary_of([judged("p", "sn")])
    own, other = (
        load_calibration(jsonl(tmp_path / f"{n}.jsonl", {"label": 1, "verdict": 1, "judge": name}))
        for n, name in enumerate(("sim:judge (fused)", "sim:judge (paper)"))
    )
    assert calibration_warnings(own, summary) == ()
    (warning,) = calibration_warnings(other, summary)
    assert "sim:judge (paper) judged, and not sim:judge (fused)" in warning
