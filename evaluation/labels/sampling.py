"""Which claims of a run to label next, so that the corrected figure gets the narrowest interval for the labels.

A claim whose verdict is surely right tells little when a person looks at it. So a claim is drawn with a probability
that goes with the spread of what is not known of it: the root of the mean square by which a label differs from what its
verdict, or its score where that is the better guide, leads one to expect (Neyman 1934; Zrnic and Candes 2024, arXiv
2403.03208, for labels chosen by a model). That spread is learnt from labels there are, by verdict and score; it decides
how narrow the interval gets, never whether it holds, as each label counts for the inverse of its probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.debiasing.estimates import UNSEEN_ERRORS

_Z = 1.959963984540054


@dataclass(frozen=True)
class WidthByLabels:
    """About how wide a 95 % interval of a system's corrected precision is, by the number of its labels drawn so.

    The half width is z sqrt(a / n + c / n^2 + V): a is the mean of w s^2 with weights w = 1 / (N p); c is what the
    estimate counts for an error that was not seen (`estimates.unseen_variance`); V is the variance that the run itself
    leaves, as it has only so many prompts, whose shares of claims called supported vary. No number of labels takes V
    away: it is that of the raw figure.
    """

    a: float
    c: float
    run_variance: float
    n_claims: int
    """The claims of the system: no more labels can be drawn."""
    n_prompts: int

    @classmethod
    def of(cls, spread: Floats, verdicts: Ints, groups: Sequence[str]) -> WidthByLabels:
        chance, size = probabilities(spread, 1), len(spread)
        kinds = [chance[verdicts == verdict] for verdict in np.unique(verdicts)]
        return cls(
            a=float((spread**2 / chance).sum()) / size**2,
            c=UNSEEN_ERRORS * max(float((1.0 / one).sum() / one.sum()) for one in kinds) / size**2,
            run_variance=_run_variance(verdicts, groups),
            n_claims=size,
            n_prompts=len({*groups}),
        )

    @property
    def raw(self) -> float:
        """The half width of the raw figure."""
        return _Z * math.sqrt(self.run_variance)

    def half_width(self, n: int) -> float:
        return _Z * math.sqrt(self.a / n + self.c / n**2 + self.run_variance)

    def needed(self, half_width: float) -> int | None:
        """Labels for an interval of +- `half_width`; None where all claims of the system would be too few."""
        left = (half_width / _Z) ** 2 - self.run_variance
        if left <= 0.0:
            return None
        n = math.ceil((self.a + math.sqrt(self.a**2 + 4.0 * left * self.c)) / (2.0 * left))
        return n if n <= self.n_claims else None


@dataclass(frozen=True)
class LabelsNeeded:
    """The labels that give one system's corrected precision an interval."""

    system: str
    n: int | None
    """All labels of the system, those that there are among them; None where no number would do."""
    n_before: int
    width: WidthByLabels


def labels_needed(
    half_width: float,
    systems: Sequence[str],
    groups: Sequence[str],
    verdicts: Ints,
    spread: Floats,
    is_known: NDArray[np.bool_],
) -> Iterator[LabelsNeeded]:
    """What each system needs for an interval of +- `half_width`.

    `groups` are the prompts of the claims; `is_known` says which have a label.
    """
    for system in dict.fromkeys(systems):
        here = np.array([one == system for one in systems])
        width = WidthByLabels.of(
            spread[here], verdicts[here], [groups[place] for place in np.flatnonzero(here).tolist()]
        )
        yield LabelsNeeded(system, width.needed(half_width), int(is_known[here].sum()), width)


def claims_to_draw(needed: Iterable[LabelsNeeded], systems: Sequence[str], spread: Floats) -> int | None:
    """Claims to draw of those without a label, so that each system has as many as it needs, if any number does."""
    chance, size = probabilities(spread, 1), 0.0
    for one in needed:
        share = float(chance[[system == one.system for system in systems]].sum())
        if one.n is not None and one.n > one.n_before and share:
            size = max(size, (one.n - one.n_before) / share)
    return min(math.ceil(size - 1e-6), len(spread)) or None


def _run_variance(verdicts: Ints, groups: Sequence[str]) -> float:
    _, number = np.unique(np.array(groups), return_inverse=True)
    moves = np.bincount(number, verdicts - verdicts.mean()) / len(verdicts)
    n_groups = len(moves)
    return float((moves**2).sum()) * n_groups / max(1, n_groups - 1)


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EVEN = 0.1
"""Share of the draw that goes to all claims alike: what a pilot saw no error in may have some."""
FEWEST_LABELS, FEWEST_BESIDE_SCORES = 10, 50
"""Labels to learn from. Where the judge gives scores these are the better guide at first: in simulation a draw that one
label steered had twice the variance of one that the scores steered, and by 50 labels as much."""
_EDGES = (0.05, 0.2, 0.8, 0.95)
"""Scores between these are taken together: a judge's scores lie close to 0 and 1."""
_PRIOR = 2.0
"""Claims' worth of one half in the rate of each verdict, and of the middle of both in that of each stratum."""


@dataclass(frozen=True)
class Pilot:
    """Labels there are, with the stratum of each claim."""

    labels: Ints
    """1 supported, 0 not; (n_labels,)."""
    verdicts: Ints
    scores: Floats
    """In [0, 1], NaN where the judge gave none."""

    @property
    def n(self) -> int:
        return len(self.labels)

    def wrong(self, verdict: int) -> tuple[int, int]:
        """Labels that go against this verdict, and all of claims that have it."""
        labels = self.labels[self.verdicts == verdict]
        return int((labels != verdict).sum()), len(labels)


def fewest_labels(scores: Floats) -> int:
    """Labels to learn from, by the run's scores, NaN where the judge gave none."""
    return FEWEST_LABELS if np.isnan(scores).all() else FEWEST_BESIDE_SCORES


def spreads(verdicts: Ints, scores: Floats, pilot: Pilot | None) -> Floats:
    """(n_claims,): the spread of each claim's label about what its verdict or score leads one to expect, above 0.

    Without labels, or with fewer than `fewest_labels`, it is that of the score where there is one, and the same for all
    claims elsewhere. With labels it rests on the mean of r (1 - r) over the beta distribution that a stratum's rate r
    then has: a stratum of 80 labels without an error may have errors, and drawn too rarely it would count for too much
    where one turns up.
    """
    if pilot is None or pilot.n < fewest_labels(scores):
        known = np.clip(scores, 0.02, 0.98)
        spread = np.sqrt(known * (1.0 - known))
        rest = float(np.nanmean(spread)) if not np.isnan(spread).all() else 0.5
        return np.where(np.isnan(spread), rest, spread)
    by_verdict = {}
    for verdict in (0, 1):
        known = pilot.labels[pilot.verdicts == verdict]
        by_verdict[verdict] = (known.sum() + _PRIOR / 2.0) / (len(known) + _PRIOR)
    of_verdict = np.where(verdicts == 1, by_verdict[1], by_verdict[0])
    expected = _expected(verdicts, scores, pilot, by_verdict)
    strata, of_pilot = _strata(verdicts, scores), _strata(pilot.verdicts, pilot.scores)
    found = np.empty(len(verdicts))
    for stratum in np.unique(strata):
        here = strata == stratum
        seen = pilot.labels[of_pilot == stratum]
        prior = (of_verdict[here] + 0.5) / 2.0
        size = len(seen) + _PRIOR
        rate = (seen.sum() + _PRIOR * prior) / size
        found[here] = np.sqrt(rate * (1.0 - rate) * size / (size + 1.0) + (rate - expected[here]) ** 2)
    return found


def _expected(verdicts: Ints, scores: Floats, pilot: Pilot, by_verdict: Mapping[int, float]) -> Floats:
    """What one is to expect of each label: by verdict, or by score where the pilot's labels are nearer to that.

    The estimate takes the one or the other as its prediction, times lambda in [0, 1].
    """
    of_run, of_pilot = (np.where(one == 1, by_verdict[1], by_verdict[0]) for one in (verdicts, pilot.verdicts))
    has = ~np.isnan(pilot.scores)
    if not has.any() or np.ptp(pilot.scores[has]) == 0.0:
        return of_run
    score, label = pilot.scores[has], pilot.labels[has]
    slope = float(np.clip(np.cov(score, label)[0, 1] / score.var(ddof=1), 0.0, 1.0))
    start = float(label.mean() - slope * score.mean())
    by_score = np.where(has, start + slope * pilot.scores, of_pilot)
    if ((pilot.labels - by_score) ** 2).sum() >= ((pilot.labels - of_pilot) ** 2).sum():
        return of_run
    return np.where(np.isnan(scores), of_run, np.clip(start + slope * scores, 0.0, 1.0))


def _strata(verdicts: Ints, scores: Floats) -> Ints:
    bins = np.where(np.isnan(scores), len(_EDGES) + 1, np.searchsorted(_EDGES, np.nan_to_num(scores)))
    return np.asarray(verdicts * (len(_EDGES) + 2) + bins, np.int64)


def share_of_draw(n_claims: int, n_before: int, n: int) -> float:
    """The share in (0, 1] of a draw of n claims in an estimate to which the n labels before it contribute the rest.

    What leaves the least variance were both draws even: v1 / (v1 + v2), with v1 = N (N - n1) / n1 of a total by the
    labels before, and v2 = M (M - n) / n by those of the draw from the other M = N - n1 claims. 1 where there were no
    labels before, and where the draw leaves no claim without one.
    """
    return n_claims * n / (n_claims * n + n_before * (n_claims - n_before - n))


def probability_after(probability: float, share: float) -> float:
    """The probability by which a claim that was labelled before a draw counts beside it: the inverse of (1 - share) / p
    + share, as the other estimate has its label for certain."""
    return 1.0 / ((1.0 - share) / probability + share)


def probabilities(spread: Floats, n: int, most: float = 1.0) -> Floats:
    """(n_claims,): the probability of each claim to be drawn, in (0, 1], that add up to n, or to all claims if fewer.

    In proportion to the spread, but for `EVEN` of the draw; a claim that would pass `most` has that, and the rest share
    what is left. `most`: the share of the draw in an estimate to which other labels contribute, since there no claim
    counts for less than itself; no less than n over the number of claims.
    """
    size = len(spread)
    if n >= size:
        return np.ones(size)
    wanted = (1.0 - EVEN) * spread / spread.sum() + EVEN / size
    found, is_full = np.full(size, most), np.zeros(size, np.bool_)
    while True:
        open_ = ~is_full
        found[open_] = wanted[open_] / wanted[open_].sum() * (n - most * is_full.sum())
        if not (found[open_] > most).any():
            return np.asarray(np.minimum(found, most))
        is_full |= found >= most
        found[is_full] = most


def systematic_draw(probability: Floats, rng: np.random.Generator) -> Ints:
    """Places of the claims drawn, in rising order: as many as the probabilities add up to, each with just its own.

    Systematic sampling in a drawn order: a comb with teeth 1 apart, at a drawn place, over the probabilities in a row.
    """
    order = rng.permutation(len(probability))
    total = round(float(probability.sum()))
    ends = np.cumsum(probability[order])
    teeth = rng.random() + np.arange(total)
    at = np.searchsorted(ends * (total / ends[-1]), teeth, side="right")
    return np.sort(order[np.minimum(at, len(order) - 1)])
