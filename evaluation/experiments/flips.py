"""Finds claims whose verdict of most repeats differs between baseline and variant, with both sides' grounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from factloop.core.citations import named
from factloop.core.records import Verdict
from factloop.evaluation.experiments.panel import MISSING, VERDICTS, Codes, Panel
from factloop.evaluation.experiments.records import JudgedClaim
from factloop.evaluation.experiments.report import Direction, Flip, FlipCount, FlipSide

SPLIT = -2
"""Code for a claim on which no verdict has more repeats than every other."""
_ORDER = (Direction.WORSE, Direction.BETTER, Direction.NEUTRAL)


def flips_of(panel: Panel, first: int, second: int) -> tuple[FlipCount, tuple[Flip, ...]]:
    """The flips between two variants, given by place: worse first, then better, then neutral; by group and claim."""
    one, other = (majority(panel.claims.verdicts[place]) for place in (first, second))
    has = (one >= 0) & (other >= 0)
    flips = [
        _flip(panel, (first, second), claim, (int(one[claim]), int(other[claim])))
        for claim in np.flatnonzero(has & (one != other)).tolist()
    ]
    flips.sort(key=lambda flip: _ORDER.index(flip.direction))  # stable: claims stand by group and name
    n = {direction: sum(flip.direction is direction for flip in flips) for direction in Direction}
    is_unscored = (one == MISSING) | (other == MISSING)
    count = FlipCount(
        first=panel.variants[first],
        second=panel.variants[second],
        n_claims=int(has.sum()),
        n_better=n[Direction.BETTER],
        n_worse=n[Direction.WORSE],
        n_neutral=n[Direction.NEUTRAL],
        n_split=int((~has & ~is_unscored).sum()),
        n_unscored=int(is_unscored.sum()),
    )
    return count, tuple(flips)


def majority(verdicts: Codes) -> Codes:
    """(n_claims,): of (n_repeats, n_claims) the verdict of most scored repeats, SPLIT, or MISSING without any."""
    times = np.stack([(verdicts == code).sum(axis=0) for code in range(len(VERDICTS))])
    most = times.max(axis=0)
    found = np.where((times == most).sum(axis=0) > 1, SPLIT, times.argmax(axis=0))
    return np.where(most == 0, MISSING, found).astype(np.int8)


def _flip(panel: Panel, variants: tuple[int, int], claim: int, codes: tuple[int, int]) -> Flip:
    sides = [_side(panel, variant, claim, code) for variant, code in zip(variants, codes, strict=True)]
    gold = None if np.isnan(panel.claims.gold[claim]) else bool(panel.claims.gold[claim])
    shown = next(_results(panel, variants[0], claim))
    return Flip(
        first=panel.variants[variants[0]],
        second=panel.variants[variants[1]],
        claim_id=shown.claim_id,
        group=shown.group,
        claim=shown.claim,
        gold=gold,
        direction=_direction(gold, sides[0].verdict, sides[1].verdict),
        first_side=sides[0],
        second_side=sides[1],
    )


def _side(panel: Panel, variant: int, claim: int, code: int) -> FlipSide:
    results = list(_results(panel, variant, claim))
    of_verdict = [one for one in results if one.judgement.verdict is VERDICTS[code]]
    shown = of_verdict[0]
    cited = {*shown.judgement.cited}
    return FlipSide(
        verdict=VERDICTS[code],
        n_repeats=len(of_verdict),
        n_scored=sum(one.judgement.verdict is not None for one in results),
        rationale=named(shown.judgement.rationale, shown.evidence),
        cited=tuple(one for one in shown.evidence if one.id in cited),
        n_evidence=len(shown.evidence),
    )


def _results(panel: Panel, variant: int, claim: int) -> Iterator[JudgedClaim]:
    """The variant's judgements of the claim, by repeat."""
    for repeat in range(1, panel.claims.verdicts.shape[1] + 1):
        one = panel.found.get((panel.variants[variant], repeat, panel.claim_keys[claim]))
        if one is not None:
            yield one


def _direction(gold: bool | None, first: Verdict, second: Verdict) -> Direction:
    if gold is None:
        return Direction.NEUTRAL
    right = Verdict.SUPPORTED if gold else Verdict.NOT_SUPPORTED
    if second is right:
        return Direction.BETTER
    return Direction.WORSE if first is right else Direction.NEUTRAL
