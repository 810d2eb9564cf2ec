"""Compares two checks claim by claim, paired as `factloop compare` pairs the claims of two runs."""

from __future__ import annotations

from collections.abc import Iterable

from factloop.core.citations import reason
from factloop.core.records import Claim, FactualityReport
from factloop.evaluation.comparing.matching import JudgedClaim, flip_of, match_claims
from factloop.service.shapes import ChecksComparison, ComparedClaim, ComparedCounts, ComparedSide, Job, LoneClaim


def compare_checks(first: tuple[Job, FactualityReport], second: tuple[Job, FactualityReport]) -> ChecksComparison:
    """Pairs claims of equal self-contained text, without regard to spaces and capitals; each at most once."""
    (first_job, one), (second_job, other) = first, second
    ours, theirs = ({claim.id: claim for claim in report.claims} for report in (one, other))
    matched = match_claims(
        *([JudgedClaim.of(claim, claim.self_contained) for claim in report.claims] for report in (one, other))
    )
    pairs = [_pair(ours[left.id], theirs[right.id]) for left, right in matched]
    paired_first, paired_second = ({pair[side].id for pair in matched} for side in (0, 1))
    only_first, only_second = _lone(one.claims, paired_first), _lone(other.claims, paired_second)
    flips = tuple(pair for pair in pairs if pair.flipped)
    return ChecksComparison(
        first=first_job,
        second=second_job,
        same_response=one.response == other.response,
        pairs=tuple(pairs),
        only_first=only_first,
        only_second=only_second,
        flips=flips,
        counts=ComparedCounts(
            first=one.counts,
            second=other.counts,
            n_pairs=len(pairs),
            n_only_first=len(only_first),
            n_only_second=len(only_second),
            n_flips=len(flips),
            n_unscored_pairs=sum(None in (pair.first.verdict, pair.second.verdict) for pair in pairs),
        ),
    )


def _pair(first: Claim, second: Claim) -> ComparedClaim:
    one, other = _side(first), _side(second)
    flipped = flip_of(one.verdict, other.verdict) is not None
    return ComparedClaim(claim=first.self_contained, first=one, second=other, flipped=flipped)


def _lone(claims: Iterable[Claim], paired: set[str]) -> tuple[LoneClaim, ...]:
    return tuple(LoneClaim(claim=claim.self_contained, side=_side(claim)) for claim in claims if claim.id not in paired)


def _side(claim: Claim) -> ComparedSide:
    judgement = claim.judgement
    return ComparedSide(
        claim_id=claim.id,
        verdict=judgement.verdict,
        unscored_reason=judgement.unscored_reason,
        contradicted=judgement.contradicted,
        rationale=reason(claim),
    )
