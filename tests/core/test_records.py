from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from factloop.core.reasons import ABOUT, FAILURES, MENDABLE
from factloop.core.records import (
    Claim,
    Counts,
    Evidence,
    FactualityReport,
    Fingerprint,
    Judgement,
    StageUsage,
    UnscoredReason,
    Usage,
    Verdict,
)

NOW = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)
SUPPORTED = Judgement(verdict=Verdict.SUPPORTED)
UNSCORED = Judgement(unscored_reason=UnscoredReason.BUDGET)


def evidence(name: str = "c1.1-e1") -> Evidence:
    return Evidence(id=name, source="https://example.org", passage="It is.", query="q", rank=1, retrieved_at=NOW)


def claim(judgement: Judgement = SUPPORTED, **fields: Any) -> Claim:
    base = {"id": "c1.1", "sentence": "It is.", "span": (0, 6), "text": "It is.", "self_contained": "Rome is."}
    return Claim.model_validate({**base, "judgement": judgement, **fields})


def report(claims: tuple[Claim, ...] = (), **counts: int) -> FactualityReport:
    return FactualityReport(
        response="It is.",
        claims=claims,
        counts=Counts(**counts),
        precision=None,
        at_k=(),
        usage=Usage(stages={"split": StageUsage(calls=1)}),
        fingerprint=Fingerprint(
            factloop_version="1", engine="offline", plan="fused", max_searches=5, results_per_search=3
        ),
        created_at=NOW,
    )


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"verdict": "supported", "unscored_reason": "budget"},
        {"verdict": "supported", "contradicted": False},
        {"verdict": "irrelevant", "contradicted": True},
        {"unscored_reason": "budget", "contradicted": False},
        {"verdict": "not_supported"},
        {"verdict": "refuted"},
        {"verdict": "supported", "score": 1.5},
        {"verdict": "supported", "surprise": 1},
    ],
)
def test_a_judgement_is_a_verdict_or_a_reason_and_nothing_between(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Judgement.model_validate(fields)


def test_every_reason_is_described_and_only_some_can_be_mended() -> None:
    assert list(ABOUT) == list(UnscoredReason)
    assert {"parse_failure", "tool_failure", "refusal", "timeout"} == FAILURES
    assert {"budget", "timeout", "tool_failure"} == MENDABLE


def test_a_judgement_cites_only_the_evidence_of_its_claim() -> None:
    citing = Judgement(verdict=Verdict.SUPPORTED, cited=("c1.1-e1",))
    assert claim(citing, evidence=(evidence(),)).judgement.cited == ("c1.1-e1",)
    with pytest.raises(ValidationError, match=r"unknown evidence: \['c1\.1-e1'\]"):
        claim(citing, evidence=(evidence("c1.1-e2"),))


@pytest.mark.parametrize("span", [(5, 2), (-1, 3), (0,)])
def test_a_span_is_a_stretch_of_the_response(span: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError):
        claim(span=span)


def test_counts_that_do_not_add_up_to_the_claims_are_refused() -> None:
    claims = (claim(), claim(UNSCORED, id="c1.2"))
    assert report(claims, supported=1, unscored=1).counts.total == 2
    with pytest.raises(ValidationError, match="the counts must add up to the 2 claims, not to 1"):
        report(claims, supported=1)
    with pytest.raises(ValidationError, match="the counts must add up to the 0 claims, not to 1"):
        report((), supported=1)


def test_a_report_survives_being_written_down() -> None:
    citing = Judgement(verdict=Verdict.NOT_SUPPORTED, contradicted=True, cited=("c1.1-e1",), score=0.0)
    whole = report((claim(citing, evidence=(evidence(),), missing=("m",), queries=("q",)),), not_supported=1)
    assert FactualityReport.model_validate_json(whole.model_dump_json()) == whole


def test_half_a_character_becomes_a_replacement_character() -> None:
    cut = evidence().model_copy(update={"passage": "x"}).model_dump() | {"passage": "smile \ud83d", "title": "žluť"}
    mended = Evidence.model_validate(cut)
    assert mended.passage == "smile \ufffd"
    assert mended.title == "žluť"
    assert mended.model_dump_json().encode()


def test_the_offline_engine_is_called_a_baseline() -> None:
    by_model = report().fingerprint.model_copy(
        update={"engine": "model", "model": "openai:gpt-4o-mini", "plan": "fused"}
    )
    assert by_model.judge == "openai:gpt-4o-mini, fused plan"
    assert by_model.model_copy(update={"model": None}).judge == "a model, fused plan"
    offline = by_model.model_copy(update={"engine": "offline", "model": None, "plan": "paper"})
    fused = offline.model_copy(update={"plan": "fused"})
    judges = ("the offline engine (a baseline), paper plan", "the offline engine (a baseline)")
    assert ((offline.judge, fused.judge), fused.evaluator) == (judges, "offline engine")
