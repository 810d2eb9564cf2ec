"""Averages the TrustScores of many answers, and groups claims by belief and evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from factloop.agents.trustscore.records import (
    ClaimStanding,
    MeanScore,
    Source,
    SourceConsistency,
    TrustBC,
    TrustReport,
    TrustSummary,
)
from factloop.core.records import Claim, Verdict


def summarise(reports: Sequence[TrustReport]) -> TrustSummary:
    """Returns the mean of each score over the answers that have it."""
    return TrustSummary(
        trust_bc=mean_score(report.trust_bc.value for report in reports),
        trust_bc_graded=mean_score(report.trust_bc.graded for report in reports),
        trust_fc=mean_score(report.trust_fc.value for report in reports),
        trust_ov=mean_score(report.trust_ov.value for report in reports),
        by_source=by_source([report.trust_bc for report in reports]),
    )


def by_source(found: Sequence[TrustBC]) -> tuple[SourceConsistency, ...]:
    """Returns each source's consistency over the checks with its distractors. A check may count for several sources."""
    chosen: dict[Source, list[bool]] = {}
    answers: dict[Source, set[int]] = {}
    for place, one in enumerate(found):
        for check in one.checks:
            sources = {one.distractors[each.distractor].source for each in check.options if each.distractor is not None}
            for source in sources if check.counted and check.consistent is not None else ():
                chosen.setdefault(source, []).append(bool(check.consistent))
                answers.setdefault(source, set()).add(place)
    return tuple(
        SourceConsistency(
            source=source,
            consistent=sum(chosen[source]) / len(chosen[source]),
            n_checks=len(chosen[source]),
            n_answers=len(answers[source]),
        )
        for source in Source
        if source in chosen
    )


def mean_score(values: Iterable[float | None]) -> MeanScore:
    given = list(values)
    scored = [value for value in given if value is not None]
    mean = math.fsum(scored) / len(scored) if scored else None
    return MeanScore(mean=mean, n_scored=len(scored), n_unscored=len(given) - len(scored))


def standing(claim: Claim, consistency: TrustBC | None) -> tuple[ClaimStanding, str]:
    """Returns the group of a claim according to SAFE's verdict and TrustBC, and the reason if it is in no group."""
    verdict = claim.judgement.verdict
    if verdict is Verdict.IRRELEVANT:
        return ClaimStanding.UNPLACED, "SAFE: irrelevant"
    if verdict is None:
        return ClaimStanding.UNPLACED, f"SAFE: {claim.judgement.unscored_reason}"
    if consistency is None or consistency.value is None:
        return (
            ClaimStanding.UNPLACED,
            f"TrustBC: {consistency.unscored_reason if consistency is not None else 'not asked'}",
        )
    insists = consistency.value == 1
    if verdict is Verdict.SUPPORTED:
        return (ClaimStanding.SUPPORTED_INSISTED if insists else ClaimStanding.SUPPORTED_WAVERING), ""
    return (ClaimStanding.UNSUPPORTED_INSISTED if insists else ClaimStanding.UNSUPPORTED_WAVERING), ""
