"""Finds the cascade thresholds that send as few claims as possible to the model while limiting the error.

Claims are accepted at or above `upper`, and rejected at or below `lower`. On each side, the maximum error limits two
rates: the fraction of settled claims that are wrong, and the fraction of all claims with the opposite label that are
settled wrongly. The second limit protects a rare label: if one claim in ten were supported, rejecting all claims would
be wrong for only one in ten.

Thresholds are tested on a fixed grid, from the strictest to the loosest. A chain of tests ends at the first failure, so
no other correction is needed. This is fixed-sequence testing (Angelopoulos et al., "Learn then test", arXiv 2110.01052,
section 2.4), with the fallback of Wiens (Pharmaceutical Statistics 2, 2003). Chains begin at the thresholds that settle
1/16, 1/8, 1/4 and 1/2 of the claims, each with a quarter of the allowed error probability. A chain that reaches the
next starting point also gets that point's quarter.

Departures: chains begin at positions in the ranking of scores, which does not depend on labels. The guarantee is exact
if claims are independent and weaker scores are not right more often than stronger ones. If claims come in groups, the
guarantee is approximate (see `bounds`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from factloop.checking.cascade.records import CascadePoint, CascadeSide, CascadeTuning, ErrorKind
from factloop.evaluation.cascades.bounds import (
    Floats,
    effect_on_label,
    effect_on_settled,
    few_groups_factor,
    p_values,
    upper_bound,
)
from factloop.evaluation.cascades.labelled import ScoredLabels, likeness
from factloop.reports.figures import percent, plural

Counts = NDArray[np.int64]

GRID: Floats = np.arange(1001) / 1000
"""The thresholds that are tested. They are round numbers, fixed before any label is seen."""
BEGINNINGS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
CURVE = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


@dataclass(frozen=True)
class SettledAt:
    """One side of the cascade at each threshold, strictest first. Arrays have shape (n_thresholds,)."""

    thresholds: Floats
    n: Counts
    n_wrong: Counts
    effect: Floats
    """Design effect on the fraction of settled claims that are wrong."""
    label_effect: Floats
    """Design effect on the fraction of claims with the opposite label that are settled wrongly."""
    n_all: int
    n_label: int
    """Claims that would be wrong if settled on this side."""


def tune(
    labelled: ScoredLabels, *, max_error: float, error: ErrorKind = ErrorKind.BALANCED, confidence: float = 0.95
) -> CascadeTuning:
    """Returns the thresholds that send the fewest claims to the model while keeping the error within `max_error`.

    The guarantees for both sides hold jointly at `confidence`. A larger `max_error` never sends more claims to the
    model, and the order of the rows does not matter. Takes almost linear time. Raises ValueError if a rate is out of
    range.
    """
    return Tuning.of(labelled).tuned(max_error, error, confidence)


@dataclass(frozen=True)
class Tuning:
    """The counts of both sides, which do not depend on the maximum error."""

    accepting: SettledAt
    rejecting: SettledAt
    n_supported: int
    n_unscored: int
    n_groups: int
    likeness: float | None

    @classmethod
    def of(cls, labelled: ScoredLabels) -> Tuning:
        alike = likeness(labelled.labels, labelled.groups) if labelled.n else None
        wrong = labelled.labels == 0
        return cls(
            accepting=_settled_at(labelled, GRID[::-1], wrong, sign=-1),
            rejecting=_settled_at(labelled, GRID, ~wrong, sign=1),
            n_supported=int(labelled.labels.sum()),
            n_unscored=int(np.isnan(labelled.scores).sum()),
            n_groups=len(np.unique(labelled.groups)),
            likeness=alike,
        )

    def tuned(self, max_error: float, error: ErrorKind, confidence: float) -> CascadeTuning:
        """Returns the tuning without its curve, which `curve` computes."""
        for name, share in (("max_error", max_error), ("confidence", confidence)):
            if not 0.0 < share < 1.0:
                raise ValueError(f"{name} must be between 0 and 1, not {share:g}")
        accepts, rejects = error is not ErrorKind.FALSE_REJECT, error is not ErrorKind.FALSE_SUPPORT
        alpha = (1 - confidence) / (accepts + rejects)
        n = self.accepting.n_all
        more = few_groups_factor(self.n_groups, n, alpha / len(BEGINNINGS))
        accepting, rejecting = (
            replace(one, effect=more * one.effect, label_effect=more * one.label_effect)
            for one in (self.accepting, self.rejecting)
        )
        upper, lower = _farthest_apart(
            accepting,
            _certified(accepting, max_error, alpha) if accepts else _NONE,
            rejecting,
            _certified(rejecting, max_error, alpha) if rejects else _NONE,
        )
        accepted = _side(accepting, upper, max_error, alpha, is_wanted=accepts, done="accepted")
        rejected = _side(rejecting, lower, max_error, alpha, is_wanted=rejects, done="rejected")
        shares = (accepted.label_error, rejected.label_error)
        return CascadeTuning(
            error=error,
            max_error=max_error,
            confidence=confidence,
            n=n,
            n_supported=self.n_supported,
            n_unscored=self.n_unscored,
            n_groups=self.n_groups,
            likeness=self.likeness,
            accepted=accepted,
            rejected=rejected,
            share_sent=1.0 - (accepted.n + rejected.n) / n if n else 1.0,
            balanced_error=None if shares[0] is None or shares[1] is None else (shares[0] + shares[1]) / 2,
        )

    def curve(self, error: ErrorKind, confidence: float) -> tuple[CascadePoint, ...]:
        return tuple(_point(self.tuned(one, error, confidence)) for one in CURVE)


_NONE: Counts = np.empty(0, np.int64)


def _settled_at(labelled: ScoredLabels, thresholds: Floats, wrong: NDArray[np.bool_], *, sign: int) -> SettledAt:
    """`sign` is 1 if low scores are settled, or -1 if high scores are."""
    scored = np.flatnonzero(~np.isnan(labelled.scores))
    strictest_first = scored[np.argsort(sign * labelled.scores[scored], kind="stable")]
    n = np.searchsorted(sign * labelled.scores[strictest_first], sign * thresholds, side="right").astype(np.int64)
    is_wrong, groups = wrong[strictest_first], labelled.groups[strictest_first]
    effects = effect_on_settled(is_wrong, groups, n), effect_on_label(is_wrong, groups, n, labelled.groups[wrong])
    n_wrong = np.concatenate([[0], np.cumsum(is_wrong)])[n]
    return SettledAt(thresholds, n, n_wrong, *effects, labelled.n, int(wrong.sum()))


def _certified(at: SettledAt, max_error: float, alpha: float) -> Counts:
    """Returns the indices of certified thresholds. The probability that any exceeds `max_error` is at most `alpha`."""
    p_settled = p_values(at.n_wrong / at.effect, at.n / at.effect, max_error)
    p_label = p_values(at.n_wrong / at.label_effect, at.n_label / at.label_effect, max_error)
    p_value = np.maximum(p_settled, p_label)
    weight = np.zeros(len(p_value) + 1)
    np.add.at(weight, [np.searchsorted(at.n, share * at.n_all) for share in BEGINNINGS], alpha / len(BEGINNINGS))
    kept, places = 0.0, []
    for place in range(len(p_value)):
        kept += weight[place]
        if kept and p_value[place] <= kept:
            places.append(place)
        else:
            kept = 0.0
    return np.array(places, np.int64)


def _farthest_apart(
    accepting: SettledAt, accepted: Counts, rejecting: SettledAt, rejected: Counts
) -> tuple[int | None, int | None]:
    """Returns the positions of the certified `upper` and `lower` that settle the most claims. `lower` is below `upper`.
    Among several such pairs, the one with the fewest wrong claims is chosen, then the strictest."""
    best: tuple[int | None, int | None] = (None, None)
    most = (0, 0)
    uppers: list[int | None] = [None, *accepted.tolist()]
    lowers = rejecting.thresholds[rejected]
    for place in uppers:
        below = len(lowers) if place is None else int(np.searchsorted(lowers, accepting.thresholds[place]))
        other = _strictest(rejecting, rejected[:below]) if below else None
        n, wrong = (
            sum(int(counts[one]) for counts, one in pair if one is not None)
            for pair in (
                ((accepting.n, place), (rejecting.n, other)),
                ((accepting.n_wrong, place), (rejecting.n_wrong, other)),
            )
        )
        if (n, -wrong) > most:
            best, most = (place, other), (n, -wrong)
    return best


def _strictest(at: SettledAt, places: Counts) -> int:
    return int(places[np.searchsorted(at.n[places], at.n[places[-1]])])


def _side(
    at: SettledAt, place: int | None, max_error: float, alpha: float, *, is_wanted: bool, done: str
) -> CascadeSide:
    if place is None:
        why = _unmet_reason(at, max_error, done) if is_wanted else f"--error does not allow claims to be {done} cheaply"
        return CascadeSide(
            threshold=None,
            n=0,
            n_wrong=0,
            error=None,
            bound=None,
            n_label=at.n_label,
            label_error=0.0 if at.n_label else None,
            label_bound=None,
            confidence=1 - alpha,
            design_effect=1.0,
            why_none=why,
        )
    n, wrong = int(at.n[place]), int(at.n_wrong[place])
    effect, label_effect = float(at.effect[place]), float(at.label_effect[place])
    return CascadeSide(
        threshold=float(at.thresholds[place]),
        n=n,
        n_wrong=wrong,
        error=wrong / n,
        bound=upper_bound(wrong / effect, n / effect, alpha),
        n_label=at.n_label,
        label_error=wrong / at.n_label,
        label_bound=upper_bound(wrong / label_effect, at.n_label / label_effect, alpha),
        confidence=1 - alpha,
        design_effect=effect,
        label_design_effect=label_effect,
    )


def _unmet_reason(at: SettledAt, max_error: float, done: str) -> str:
    if not at.n_all or not at.n.max():
        return "no claims have a score"
    if not at.n_label:
        return "the error is unknown because no labelled claims could be settled wrongly on this side"
    settled = at.n > 0
    # half an error is added: a few claims without an error do not show that errors never occur
    error = (at.n_wrong[settled] + 0.5) / (at.n[settled] + 1)
    best = int(np.argmin(error))
    if at.n_wrong[settled][best] / at.n[settled][best] >= max_error:
        seen = f"{at.n_wrong[settled][best]:,} of {at.n[settled][best]:,}"
        return f"at every threshold, {percent(max_error)} or more of the {done} claims were wrong: at best {seen}"
    claims = plural(at.n_all, "labelled claim")
    return f"{claims} are too few to show that at most {percent(max_error)} of the {done} claims are wrong"


def _point(tuned: CascadeTuning) -> CascadePoint:
    return CascadePoint(
        max_error=tuned.max_error,
        upper=tuned.accepted.threshold,
        lower=tuned.rejected.threshold,
        n_accepted=tuned.accepted.n,
        n_rejected=tuned.rejected.n,
        n_accepted_wrong=tuned.accepted.n_wrong,
        n_rejected_wrong=tuned.rejected.n_wrong,
        share_sent=tuned.share_sent,
        balanced_error=tuned.balanced_error,
    )
