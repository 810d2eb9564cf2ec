"""TrustScores of every kind, for short answers and a biography. `trust_samples.json` has most."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from factloop.agents.trustscore.records import (
    ClaimStanding,
    ClaimTrust,
    Distractor,
    DistractorSet,
    LongFormTrustReport,
    MeanScore,
    Relation,
    TrustBC,
    TrustFC,
    TrustOV,
    TrustReport,
    TrustRun,
    TrustSummary,
)
from factloop.core.records import Claim, UnscoredReason, Verdict
from tests.reports.sample import HOSTILE, WHEN, make_report, sample_report

_SAMPLES = json.loads(Path(__file__).with_name("trust_samples.json").read_text(encoding="utf-8"))


def _sample(name: str) -> TrustReport:
    return TrustReport.model_validate_json(json.dumps(_SAMPLES[name]))


def firm() -> TrustReport:
    """Consistent in ten checks, with thirty distractors from three sources; two of three passages support it."""
    return _sample("firm")


def wavering() -> TrustReport:
    """Consistent twice, then A is chosen instead of its own D; a fourth check ran alongside the third."""
    return _sample("wavering")


def half_asked() -> TrustReport:
    """The second check had no readable choice, the budget ended before the third, and there is no corpus."""
    return _sample("half_asked")


def hostile_trust() -> TrustReport:
    """Every free text attacks the page or the terminal that shows it."""
    return _sample("hostile")


FIRM = firm()
RESPONSE, USAGE, FINGERPRINT = FIRM.response, FIRM.usage, FIRM.fingerprint


def rulers() -> tuple[Distractor, ...]:
    return FIRM.trust_bc.distractors


def consistent_bc(n: int = 10) -> TrustBC:
    asked = {"n_planned": n, "n_asked": n, "n_consistent": n, "checks": FIRM.trust_bc.checks[:n]}
    return FIRM.trust_bc.model_copy(update=asked)


def broken_bc() -> TrustBC:
    return wavering().trust_bc


def unscored_bc(reason: UnscoredReason, **fields: Any) -> TrustBC:
    return TrustBC(unscored_reason=reason, max_checks=10, **{"n_planned": 0, **fields})


def unscored_reports() -> tuple[TrustReport, ...]:
    """One report for each reason why nothing has a value; too few distractors comes first."""
    reasons = sorted(UnscoredReason, key=lambda reason: reason is not UnscoredReason.TOO_FEW_DISTRACTORS)
    missing = TrustOV(missing="TrustBC and TrustFC have no value")
    return tuple(
        FIRM.model_copy(
            update={
                "trust_bc": unscored_bc(reason, distractors=rulers()[:2]),
                "trust_fc": TrustFC(unscored_reason=reason),
                "trust_ov": missing,
            }
        )
        for reason in reasons
    )


def mean(values: Iterable[float | None]) -> MeanScore:
    listed = list(values)
    scored = [value for value in listed if value is not None]
    average = sum(scored) / len(scored) if scored else None
    return MeanScore(mean=average, n_scored=len(scored), n_unscored=len(listed) - len(scored))


def trust_run(reports: Sequence[TrustReport]) -> TrustRun:
    summary = TrustSummary(
        trust_bc=mean(report.trust_bc.value for report in reports),
        trust_bc_graded=mean(report.trust_bc.graded for report in reports),
        trust_fc=mean(report.trust_fc.value for report in reports),
        trust_ov=mean(report.trust_ov.value for report in reports),
    )
    warnings = ("DBpedia could not be reached.",)
    return TrustRun(reports=tuple(reports), summary=summary, usage=USAGE, created_at=WHEN, warnings=warnings)


def mixed_run() -> TrustRun:
    said = {"relation": Relation.CONTRADICT, "value": 0.0, "cited": ("p2",)}
    question = "Which state was returned to Spain after the war of 1783?"
    fc = FIRM.trust_fc.model_copy(update=said)
    denied = FIRM.model_copy(update={"trust_fc": fc, "trust_ov": TrustOV(value=0.2), "question": question})
    return trust_run((FIRM, wavering(), half_asked(), denied, unscored_reports()[0]))


def large_run(n: int) -> TrustRun:
    kinds = (FIRM, wavering(), half_asked())
    return trust_run([kinds[i % 3].model_copy(update={"question": f"Question number {i}?"}) for i in range(n)])


def distractor_set(n: int = 30, **fields: Any) -> DistractorSet:
    given = {"question": FIRM.question, "response": RESPONSE, "wanted": 30, "distractors": rulers()[:n], "seed": 7}
    return DistractorSet.model_validate({**given, **fields})


def _claim_trust(claim: Claim, belief: TrustBC | None) -> ClaimTrust:
    if belief is None:
        why = "it repeats an earlier claim" if claim.duplicate_of else "SAFE gives no verdict on it"
        return ClaimTrust(claim=claim, trust_bc=None, standing=ClaimStanding.UNPLACED, why_unplaced=why)
    place = (0 if claim.judgement.verdict is Verdict.SUPPORTED else 2) + (belief.value == 0)
    return ClaimTrust(claim=claim, trust_bc=belief, standing=tuple(ClaimStanding)[place])


def long_form() -> LongFormTrustReport:
    factuality = sample_report((UnscoredReason.BUDGET, UnscoredReason.TIMEOUT))
    beliefs = [None if one is None else TrustBC.model_validate_json(json.dumps(one)) for one in _SAMPLES["beliefs"]]
    claims = [_claim_trust(claim, belief) for claim, belief in zip(factuality.claims, beliefs, strict=True)]
    return long_form_of(claims, factuality.response)


def long_form_of(claims: Sequence[ClaimTrust], response: str) -> LongFormTrustReport:
    return LongFormTrustReport(
        factuality=make_report(response, tuple(one.claim for one in claims)),
        claims=tuple(claims),
        counts=Counter(one.standing for one in claims),
        usage=USAGE,
        fingerprint=FINGERPRINT,
        created_at=WHEN,
        warnings=("1 call failed and was retried.",),
    )


def hostile_long_form() -> LongFormTrustReport:
    hostile, first = hostile_trust(), sample_report(()).claims[0]
    texts = {"sentence": HOSTILE, "span": (0, len(HOSTILE)), "self_contained": f"claim {HOSTILE}", "text": HOSTILE}
    trust = ClaimTrust(
        claim=first.model_copy(update=texts),
        trust_bc=hostile.trust_bc,
        standing=ClaimStanding.UNPLACED,
        why_unplaced=f"why {HOSTILE}",
    )
    report = long_form_of((trust,), HOSTILE)
    return report.model_copy(update={"fingerprint": hostile.fingerprint, "warnings": hostile.warnings})
