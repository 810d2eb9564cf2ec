from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

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
    found = calibrated(summary, sample, transfer=None, run=known(run)).calibration
    assert found is not None
    return found.systems[0]


def calibration_warned(path: Path) -> tuple[str, ...]:
    sample = load_calibration(path).held_against(known(RUN))
    return tuple(calibration_warnings(sample, summary_of(RUN)))


def rows(**names: str) -> list[dict[str, Any]]:
    return [
        {"label": label, "verdict": verdict, **{name: how.format(place) for name, how in names.items()}}
        for place in range(40)
        for verdict, label in ((1, 1), (int(place % 3 == 0), place % 2))
    ]


def own_rows() -> list[dict[str, Any]]:
    found = rows(group="p{}", system="one", response_id="one/p{}")
    return [{**row, "claim": TEXTS[number % 2]} for number, row in enumerate(found)]


def test_the_runs_own_claims_are_told_from_others(tmp_path: Path) -> None:
    """80 labels of 120 claims: 60 are supported, and 54 called so, of which 47 are; of the run's claims 80 are. Centred
    products: 47 - 54 * 60 / 80 = 6.5 over 54 - 54^2 / 80 = 17.55, so lambda 0.37037. The value is 0.37037 * 80 / 120 +
    60 / 80 - 0.37037 * 54 / 80 = 0.74691."""
    found = corrected(jsonl(tmp_path / "own.jsonl", *own_rows()))
    assert (found.n_own, found.n_of_prompts) == (80, 80)
    assert found.precision.own_claims is not None
    assert found.precision.own_claims.value == pytest.approx(0.7469136)


def test_labels_of_the_same_texts_judged_by_something_else_are_not_the_runs(tmp_path: Path) -> None:
    """As where the same responses were checked by other documents: one verdict of 80 tells."""
    given = own_rows()
    given[0]["verdict"] = 0
    path = jsonl(tmp_path / "other.jsonl", *given)
    found, warnings = corrected(path), calibration_warned(path)
    assert (found.n_own, found.precision.own_claims) == (0, None)
    assert found.n_of_prompts == 80
    assert any("1 of which are claims of this run with a different verdict" in one for one in warnings)


def scored(one: JudgedResponse, *scores: float | None) -> JudgedResponse:
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
