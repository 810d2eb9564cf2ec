"""Chooses which claims of a run to label next so that the corrected figure gets the narrowest interval.

Labelling a claim whose verdict is surely right tells little. So a claim is drawn with a probability proportional to
the spread of what is not known of it: the root mean square by which a label differs from what its verdict, or its score
if that is the better guide, leads one to expect (Neyman 1934; Zrnic and Candes 2024, arXiv 2403.03208, for labels
chosen by a model). That spread is learnt from existing labels, by verdict and score; it decides how narrow the interval
gets, never whether it is valid, because each label is weighted by its inverse probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EVEN = 0.1
"""Share of the draw that goes to all claims equally, since a pilot may have missed errors."""
FEWEST_LABELS, FEWEST_BESIDE_SCORES = 10, 50
"""Minimum number of labels to learn from. Scores, if any, are the better guide at first: in simulation, a draw guided
by one label had twice the variance of one guided by scores, and by 50 labels the same."""
_EDGES = (0.05, 0.2, 0.8, 0.95)
"""Bounds of the bins of scores: a judge's scores are mostly close to 0 and 1."""
_PRIOR = 2.0
"""Weight, in claims, of the prior: 1/2 for a verdict's rate, the mean of both for a stratum's."""


@dataclass(frozen=True)
class Pilot:
    """Existing labels, with the stratum of each claim."""

    labels: Ints
    """1 supported, 0 not; (n_labels,)."""
    verdicts: Ints
    scores: Floats
    """In [0, 1], NaN if the judge gave none."""

    @property
    def n(self) -> int:
        return len(self.labels)

    def wrong(self, verdict: int) -> tuple[int, int]:
        """The number of labels that contradict this verdict, and of claims that have it."""
        labels = self.labels[self.verdicts == verdict]
        return int((labels != verdict).sum()), len(labels)


def fewest_labels(scores: Floats) -> int:
    """Minimum number of labels to learn from; `scores` are the run's, NaN if the judge gave none."""
    return FEWEST_LABELS if np.isnan(scores).all() else FEWEST_BESIDE_SCORES


def spreads(verdicts: Ints, scores: Floats, pilot: Pilot | None) -> Floats:
    """(n_claims,): the spread of each claim's label about the value expected from its verdict or score, above 0.

    With fewer labels than `fewest_labels`, it is that of the score, or a common value for claims without one. With
    labels, it is based on the mean of r (1 - r) over the beta distribution of a stratum's rate r: a stratum of 80
    labels without an error may have errors, and an error in a stratum drawn too rarely would have too much weight.
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
    """The expected value of each label: by verdict, or by score if that fits the pilot's labels better.

    The estimate uses one or the other as its prediction, times lambda in [0, 1].
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
    """The weight in (0, 1] of a draw of n claims in an estimate in which `n_before` earlier labels have the rest.

    It minimizes the variance if both draws are even: v1 / (v1 + v2), with v1 = N (N - n1) / n1 for a total estimated
    from the earlier labels, and v2 = M (M - n) / n from the draw from the other M = N - n1 claims. 1 if there were no
    earlier labels, or if the draw leaves no claim unlabelled.
    """
    return n_claims * n / (n_claims * n + n_before * (n_claims - n_before - n))


def probability_after(probability: float, share: float) -> float:
    """The probability that weights a claim labelled before a draw: the inverse of (1 - share) / p + share, because the
    other estimate contains its label for certain."""
    return 1.0 / ((1.0 - share) / probability + share)


def probabilities(spread: Floats, n: int, most: float = 1.0) -> Floats:
    """(n_claims,): the probability of each claim to be drawn, in (0, 1]. They add up to n, or to all claims if fewer.

    Proportional to the spread, except for `EVEN` of the draw, and at most `most`; the other claims share the excess.
    `most` is the share of the draw in an estimate to which other labels contribute, since no claim may have a weight
    below 1; it must be at least n over the number of claims.
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
    """Positions of the drawn claims, in ascending order: as many as the probabilities add up to, each with its own.

    Systematic sampling in random order: a comb with teeth 1 apart and a random start over the cumulated probabilities.
    """
    order = rng.permutation(len(probability))
    total = round(float(probability.sum()))
    ends = np.cumsum(probability[order])
    teeth = rng.random() + np.arange(total)
    at = np.searchsorted(ends * (total / ends[-1]), teeth, side="right")
    return np.sort(order[np.minimum(at, len(order) - 1)])
