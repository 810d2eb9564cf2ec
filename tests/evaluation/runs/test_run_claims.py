"""Which labelled claims are a run's own, however their files name prompts and responses."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factloop.core.files.json import to_json
from factloop.evaluation.runs.calibration import calibrated, calibration_warnings, load_calibration
from factloop.evaluation.runs.records import JudgedResponse, RunDebiasing
from factloop.evaluation.runs.run_claims import RunClaims, origin_of
from tests.evaluation.datasets.dataset_files import jsonl
from tests.evaluation.runs.finished_runs import judged, summary_of

TEXTS = ("Lindel lies on the Rine.", "Lindel has a bridge.")


def prompted(place: int, verdicts: str = "sn", prompt_id: str | None = None, **more: Any) -> JudgedResponse:
    one = judged(prompt_id or f"p{place}", verdicts, response=f"Answer {place}.", texts=TEXTS, **more)
    return one.model_copy(update={"report": one.report.model_copy(update={"prompt": f"What of town {place}?"})})


RUN = [prompted(place, "sn" if place % 3 else "ss") for place in range(60)]


def known(responses: list[JudgedResponse]) -> RunClaims:
    run = RunClaims()
    assert list(run.seen(responses)) == responses
    return run


@pytest.mark.parametrize(
    "said",
    [
        {"group": "p3"},
        {"group": "What of town 3?"},
        {"group": hashlib.sha256(b"What of town 3?").hexdigest()[:16]},
        {"group": "other", "prompt": "What of town 3?"},
        {"response": "Answer 3."},
        {"system": "one", "response_id": "one/p3"},
    ],
)
def test_a_prompt_is_known_by_id_text_hash_and_response(said: dict[str, str]) -> None:
    assert known(RUN).prompt(origin_of(**said)) == "p3"


@pytest.mark.parametrize(
    "said", [{}, {"group": "p99"}, {"response_id": "one/p3"}, {"system": "two", "response_id": "one/p3"}]
)
def test_strangers_are_no_prompts_of_the_run(said: dict[str, str]) -> None:
    assert known(RUN).prompt(origin_of(**said)) is None


def test_a_claim_is_the_runs_by_its_text_within_its_response() -> None:
    run = known(RUN)
    place = {"system": "one", "response_id": "one/p3"}
    assert run.own([origin_of(**place, claim=TEXTS[0])]) == (True,)
    assert run.own([origin_of(system="one", response="Answer 3.", claim=TEXTS[1])]) == (True,)
    strangers = [origin_of(**place, claim="Lindel is old."), origin_of(claim=TEXTS[0]), origin_of(**place)]
    assert run.own(strangers) == (False, False, False)


def test_a_claim_of_the_run_has_one_label() -> None:
    """The run says TEXTS[0] once and "Fact." twice: of three labels of each one is its own, or two."""
    twice = judged("p", "sss", texts=(TEXTS[0], "Fact.", "Fact."))
    labels = [
        origin_of(system="one", response_id="one/p", claim=text) for text in (TEXTS[0], "Fact.") for _ in range(3)
    ]
    assert known([twice]).own(labels) == (True, False, False, True, True, False)


def corrected(place: Path, run: list[JudgedResponse] = RUN) -> RunDebiasing:
    sample, summary = load_calibration(place), summary_of(run)
    rng = np.random.default_rng(0)
    found = calibrated(summary, sample, transfer=None, rng=rng, resamples=20, run=known(run)).calibration
    assert found is not None
    return found.systems[0]


def calibration_warned(path: Path) -> tuple[str, ...]:
    """The warnings of the run corrected by a file."""
    sample = load_calibration(path).held_against(known(RUN))
    return calibration_warnings(sample, summary_of(RUN))


def rows(**names: str) -> list[dict[str, Any]]:
    """Labels of both claims of the first 40 responses; `names` has a format for each further field."""
    return [
        {"label": label, "verdict": verdict, **{name: how.format(place) for name, how in names.items()}}
        for place in range(40)
        for verdict, label in ((1, 1), (int(place % 3 == 0), place % 2))
    ]


def test_labels_count_as_the_runs_whatever_their_groups_are_called(tmp_path: Path) -> None:
    """The interval is that of groups with the run's own names; under names of their own it would be another."""
    by_id = corrected(jsonl(tmp_path / "id.jsonl", *rows(group="p{}")))
    by_text = corrected(jsonl(tmp_path / "text.jsonl", *rows(group="What of town {}?")))
    by_response = corrected(jsonl(tmp_path / "place.jsonl", *rows(group="x{}", system="one", response_id="one/p{}")))
    apart = corrected(jsonl(tmp_path / "apart.jsonl", *rows(group="x{}", system="one")))
    wanted = by_id.precision.prediction_powered
    assert by_text.precision.prediction_powered == wanted
    assert by_response.precision.prediction_powered == wanted
    assert apart.precision.prediction_powered != wanted
    assert [one.n_of_prompts for one in (by_id, by_text, by_response, apart)] == [80, 80, 80, 0]
    assert by_id.precision.own_claims is None, "of a prompt is not yet of the run"


def test_the_runs_own_claims_are_told_from_others(tmp_path: Path) -> None:
    """80 labels of 120 claims: 60 are supported, and 54 called so, of which 47 are; of the run's claims 80 are.

    Centred products: 47 - 54 * 60 / 80 = 6.5 over 54 - 54^2 / 80 = 17.55, so lambda 0.37037. The value is
    0.37037 * 80 / 120 + 60 / 80 - 0.37037 * 54 / 80 = 0.74691.
    """
    given = [
        {**row, "claim": TEXTS[number % 2]}
        for number, row in enumerate(rows(group="p{}", system="one", response_id="one/p{}"))
    ]
    found = corrected(jsonl(tmp_path / "own.jsonl", *given))
    assert (found.n_own, found.n_of_prompts) == (80, 80)
    assert found.precision.own_claims is not None
    assert found.precision.own_claims.value == pytest.approx(0.7469136)


def test_labels_of_the_same_texts_judged_by_something_else_are_not_the_runs(tmp_path: Path) -> None:
    """As where the same responses were checked by other documents: one verdict of 80 tells."""
    given = [
        {**row, "claim": TEXTS[number % 2]}
        for number, row in enumerate(rows(group="p{}", system="one", response_id="one/p{}"))
    ]
    given[0]["verdict"] = 0
    path = jsonl(tmp_path / "other.jsonl", *given)
    found, warnings = corrected(path), calibration_warned(path)
    assert (found.n_own, found.precision.own_claims) == (0, None)
    assert found.n_of_prompts == 80
    assert any("1 of which are claims of this run with another verdict" in one for one in warnings)


def labelled_run(folder: Path, responses: list[JudgedResponse]) -> Path:
    """The folder of a run over facts that people split and labelled."""
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    (folder / "summary.json").write_text(to_json(summary_of(responses, kind="factscore")))
    (folder / "reports.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in responses))
    return folder


def test_facts_that_are_alike_by_chance_are_no_draw_of_the_runs_claims(tmp_path: Path) -> None:
    """Of the last response people label one claim of two: the others' labels do not make up for it."""
    labelled = [prompted(place, labels="SN" if place < 3 else "S-") for place in range(4)]
    folder = labelled_run(tmp_path / "labelled", labelled)
    found = corrected(folder)
    assert (found.n_of_prompts, found.n_own) == (7, 0)
    assert found.precision.own_claims is None
    said = warnings_of(folder)
    assert "no precision of this run alone for one: label claims of this run" in said


def test_facts_that_are_all_claims_of_their_responses_are_a_draw_of_the_run(tmp_path: Path) -> None:
    """All 120 claims are labelled, 60 of them supported: 0.5 with no room for doubt, whatever the 80 verdicts say."""
    whole = [prompted(place, "sn" if place % 3 else "ss", labels="SN") for place in range(60)]
    folder = labelled_run(tmp_path / "whole", whole)
    own = corrected(folder).precision.own_claims
    assert own is not None
    assert (own.value, own.interval, own.n_labels) == (0.5, (0.5, 0.5), 120)
    assert "people split" not in warnings_of(folder)


def test_an_irrelevant_label_leaves_a_response_whole(tmp_path: Path) -> None:
    """Labels S of 60 first claims, IR of 60 others: all 60 with a label that counts are supported."""
    whole = [prompted(place, "ss", labels="SI") for place in range(60)]
    own = corrected(labelled_run(tmp_path / "whole", whole), whole).precision.own_claims
    assert own is not None
    assert (own.value, own.n_labels) == (1.0, 60)


def warnings_of(place: Path, run: list[JudgedResponse] = RUN) -> str:
    rng = np.random.default_rng(0)
    sample = load_calibration(place)
    return "\n".join(calibrated(summary_of(run), sample, transfer=None, rng=rng, resamples=20, run=known(run)).warnings)


def scored(one: JudgedResponse, *scores: float | None) -> JudgedResponse:
    """The response with these scores of its claims."""
    claims = tuple(
        claim.model_copy(update={"judgement": claim.judgement.model_copy(update={"score": score})})
        for claim, score in zip(one.report.claims, scores, strict=True)
    )
    return one.model_copy(update={"report": one.report.model_copy(update={"claims": claims})})


def test_scores_of_a_response_are_summed_over_its_scored_claims() -> None:
    """Supported 0.9, not supported 0.2, supported without a score 1; irrelevant and unscored claims add nothing."""
    run = known([scored(judged("p", "snsi?"), 0.9, 0.2, None, None, None), judged("q", "ssn")])
    assert run.score_sums == {("one", "one/p"): pytest.approx(2.1), ("one", "one/q"): 2.0}
    assert run.has_scores
    assert not known([judged("q", "ssn")]).has_scores


def test_a_runs_scores_and_those_of_its_labels_narrow_its_corrected_precision(tmp_path: Path) -> None:
    """The judge calls everything supported, and its scores know better: 0.9 of what is, 0.2 of what is not."""
    truths = [[1, 1, 0], [1, 1, 1], [1, 0, 0], [1, 1, 1]] * 10
    responses = [
        scored(judged(f"p{place}", "sss"), *(0.9 if truth else 0.2 for truth in row))
        for place, row in enumerate(truths)
    ]
    rows = [
        {
            "label": truth,
            "verdict": 1,
            "group": f"p{place}",
            "response_id": f"one/p{place}",
            "system": "one",
            "claim": claim.self_contained,
            "score": 0.9 if truth else 0.2,
        }
        for place, row in enumerate(truths[:20])
        for truth, claim in zip(row, responses[place].report.claims, strict=True)
    ]
    place = jsonl(tmp_path / "labels.jsonl", *rows)
    sample, run = load_calibration(place), known(responses)
    widths = {}
    for name, claims in (("scores", run), ("verdicts", known([judged(f"p{n}", "sss") for n in range(40)]))):
        summary = calibrated(
            summary_of(responses), sample, transfer=None, rng=np.random.default_rng(0), resamples=20, run=claims
        )
        assert summary.calibration is not None
        found = summary.calibration.systems[0].precision.prediction_powered
        assert found.uses_scores is (name == "scores")
        assert found.interval is not None
        widths[name] = found.interval[1] - found.interval[0]
    assert widths["scores"] < 0.8 * widths["verdicts"]
