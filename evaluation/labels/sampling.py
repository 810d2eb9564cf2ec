"""Which claims of a run to label next, so that the corrected figure gets the narrowest interval for the labels.

A claim whose verdict is surely right tells little when a person looks at it. So a claim is drawn with a probability
that goes with the spread of what is not known of it: the root of the mean square by which a label differs from what its
verdict leads one to expect (Neyman 1934; Zrnic and Candes 2024, arXiv 2403.03208, for labels chosen by a model). That
spread is learnt from labels there are, by verdict and score; it decides how narrow the interval gets, never whether it
holds, as each label counts for the inverse of its probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EVEN = 0.1
"""Share of the draw that goes to all claims alike: what a pilot saw no error in may have some."""
_EDGES = (0.05, 0.2, 0.8, 0.95)
"""Scores between these are taken together: a judge's scores lie close to 0 and 1."""
_PRIOR = 2.0
"""Claims' worth of one half in the rate of each verdict, and of the middle of both in that of each stratum."""
_Z = 1.959963984540054


@dataclass(frozen=True)
class Pilot:
    """Labels there are, with the stratum of each claim."""

    labels: Ints
    """1 supported, 0 not; (n_labels,)."""
    verdicts: Ints
    scores: Floats
    """In [0, 1], NaN where the judge gave none."""


def spreads(verdicts: Ints, scores: Floats, pilot: Pilot | None) -> Floats:
    """(n_claims,): the spread of each claim's label about what its verdict leads one to expect, above 0.

    Without labels it is that of the score where there is one, and the same for all claims elsewhere. With labels it
    rests on the mean of r (1 - r) over the beta distribution that a stratum's rate r then has: a stratum of 80 labels
    without an error may have errors, and drawn too rarely it would count for too much where one turns up.
    """
    if pilot is None or not len(pilot.labels):
        known = np.clip(scores, 0.02, 0.98)
        spread = np.sqrt(known * (1.0 - known))
        rest = float(np.nanmean(spread)) if not np.isnan(spread).all() else 0.5
        return np.where(np.isnan(spread), rest, spread)
    by_verdict = {}
    for verdict in (0, 1):
        of_verdict = pilot.labels[pilot.verdicts == verdict]
        by_verdict[verdict] = (of_verdict.sum() + _PRIOR / 2.0) / (len(of_verdict) + _PRIOR)
    expected = np.where(verdicts == 1, by_verdict[1], by_verdict[0])
    strata, of_pilot = _strata(verdicts, scores), _strata(pilot.verdicts, pilot.scores)
    found = np.empty(len(verdicts))
    for stratum in np.unique(strata):
        here = strata == stratum
        seen = pilot.labels[of_pilot == stratum]
        prior = (expected[here] + 0.5) / 2.0
        size = len(seen) + _PRIOR
        rate = (seen.sum() + _PRIOR * prior) / size
        found[here] = np.sqrt(rate * (1.0 - rate) * size / (size + 1.0) + (rate - expected[here]) ** 2)
    return found


def _strata(verdicts: Ints, scores: Floats) -> Ints:
    bins = np.where(np.isnan(scores), len(_EDGES) + 1, np.searchsorted(_EDGES, np.nan_to_num(scores)))
    return np.asarray(verdicts * (len(_EDGES) + 2) + bins, np.int64)


def probabilities(spread: Floats, n: int) -> Floats:
    """(n_claims,): the probability of each claim to be drawn, in (0, 1], that add up to n, or to all claims if fewer.

    In proportion to the spread, but for `EVEN` of the draw; a claim that would pass 1 is certain, and the rest share
    what is left.
    """
    size = len(spread)
    if n >= size:
        return np.ones(size)
    wanted = (1.0 - EVEN) * spread / spread.sum() + EVEN / size
    found, certain = np.ones(size), np.zeros(size, np.bool_)
    while True:
        open_ = ~certain
        found[open_] = wanted[open_] / wanted[open_].sum() * (n - certain.sum())
        if not (found[open_] > 1.0).any():
            return np.minimum(found, 1.0)
        certain |= found >= 1.0
        found[certain] = 1.0


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


def labels_needed(spread: Floats, verdicts: Ints, half_width: float, groups: Sequence[str]) -> int | None:
    """About how many labels drawn so give a 95 % interval of +- `half_width`; None where no number of labels does.

    z^2 (mean(w s^2) / n + V) with weights w = 1 / (N p), V being the variance that the run itself leaves, as it has
    only so many prompts: their shares of claims called supported vary.
    """
    chance = probabilities(spread, 1)
    per_label = float((spread**2 / (chance * len(spread) ** 2)).sum())
    left = (half_width / _Z) ** 2 - _run_variance(verdicts, groups)
    return None if left <= 0.0 else math.ceil(per_label / left)


def _run_variance(verdicts: Ints, groups: Sequence[str]) -> float:
    _, number = np.unique(np.array(groups), return_inverse=True)
    moves = np.bincount(number, verdicts - verdicts.mean()) / len(verdicts)
    n_groups = len(moves)
    return float((moves**2).sum()) * n_groups / max(1, n_groups - 1)
