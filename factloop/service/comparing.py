"""Compares two checks claim by claim: equal claims are paired as `factloop compare` pairs them, then near ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from factloop.core.citations import reason
from factloop.core.records import Claim, FactualityReport
from factloop.correction.views.differences import pieces
from factloop.evaluation.comparing.matching import JudgedClaim, flip_of, match_claims, plain
from factloop.evaluation.comparing.near import near_pairs
from factloop.service.shapes import (
    ChecksComparison,
    ClaimPiece,
    ComparedClaim,
    ComparedCounts,
    ComparedSide,
    Job,
    LoneClaim,
)


def compare_checks(first: tuple[Job, FactualityReport], second: tuple[Job, FactualityReport]) -> ChecksComparison:
    """The older check stands first, and in it what changed. Each claim is in one pair at most, or alone."""
    (older, one), (newer, other) = sorted((first, second), key=lambda check: check[0].created_at)
    pairs = [*_pairs(one.claims, other.claims)]
    flips = tuple(pair for pair in pairs if pair.flipped)
    only_first = _lone(one.claims, {pair.first.claim_id for pair in pairs})
    only_second = _lone(other.claims, {pair.second.claim_id for pair in pairs})
    return ChecksComparison(
        first=older,
        second=newer,
        same_response=one.response == other.response,
        pairs=tuple(sorted(pairs, key=lambda pair: (not pair.flipped, not pair.changed, not pair.pieces))),
        only_first=only_first,
        only_second=only_second,
        flips=flips,
        counts=ComparedCounts(
            first=one.counts,
            second=other.counts,
            n_pairs=len(pairs),
            n_reworded=sum(bool(pair.pieces) for pair in pairs),
            n_only_first=len(only_first),
            n_only_second=len(only_second),
            n_flips=len(flips),
            n_unscored_pairs=sum(None in (pair.first.verdict, pair.second.verdict) for pair in pairs),
        ),
    )


def _pairs(first: Sequence[Claim], second: Sequence[Claim]) -> Iterator[ComparedClaim]:
    """In the order of the older response."""
    ours, theirs = ({claim.id: claim for claim in claims} for claims in (first, second))
    matched = match_claims(
        *([JudgedClaim.of(claim, claim.self_contained) for claim in claims] for claims in (first, second))
    )
    partner = {one.id: other.id for one, other in matched}
    paired = {*partner.values()}
    left = [claim for claim in first if claim.id not in partner]
    right = [claim for claim in second if claim.id not in paired]
    near = near_pairs(*([claim.self_contained for claim in claims] for claims in (left, right)))
    partner |= {left[one].id: right[other].id for one, other in near}
    return (_pair(ours[claim.id], theirs[partner[claim.id]]) for claim in first if claim.id in partner)


def _pair(first: Claim, second: Claim) -> ComparedClaim:
    one, other = _side(first), _side(second)
    cut = () if plain(one.claim) == plain(other.claim) else pieces(one.claim, other.claim)
    return ComparedClaim(
        claim=one.claim,
        first=one,
        second=other,
        flipped=flip_of(one.verdict, other.verdict) is not None,
        changed=_outcome(one) != _outcome(other),
        pieces=tuple(ClaimPiece(kind=piece.kind, text=piece.text) for piece in cut),
    )


def _lone(claims: Sequence[Claim], paired: Collection[str]) -> tuple[LoneClaim, ...]:
    return tuple(LoneClaim(claim=claim.self_contained, side=_side(claim)) for claim in claims if claim.id not in paired)


def _side(claim: Claim) -> ComparedSide:
    judgement = claim.judgement
    return ComparedSide(
        claim_id=claim.id,
        claim=claim.self_contained,
        verdict=judgement.verdict,
        unscored_reason=judgement.unscored_reason,
        contradicted=judgement.contradicted,
        rationale=reason(claim),
    )


def _outcome(side: ComparedSide) -> tuple[object, ...]:
    return side.verdict, bool(side.contradicted), side.unscored_reason
