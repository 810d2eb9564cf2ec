"""Estimates the precision of the run's own claims from those that are labelled.

Prediction-powered inference describes all claims on prompts like the run's. This module estimates only what labels for
every claim of this run would show, so its result is less uncertain. It uses the difference estimator for a finite
population (Särndal, Swensson and Wretman 1992, section 6.3): lambda times the run's fraction of supported verdicts,
plus the mean of label - lambda * verdict over the labelled claims. Each labelled claim is weighted by the inverse of p,
its probability of being drawn. Variances contain a factor of 1 - p, so they are 0 if every claim is labelled.

If probabilities are given, each claim was drawn individually. Otherwise, it is not known whether claims or whole
responses were drawn. The variance is then computed over groups, which is correct if whole groups were drawn, and
slightly too large if individual claims were.

The variance includes half an error more than was observed (`estimates.unseen_variance`). Without this, 95% intervals
for labels drawn by `labels next` contained the true value in only 89% of simulated runs (`benchmarks.chosen_labels`).

The labels already set bounds on the number of supported claims, to which the value and the interval are clipped. The
interval's ends are rounded inwards to whole numbers of supported claims, which does not change its coverage. The
interval extends by at least one claim to either side of the value, unless that exceeds the bounds.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor

import numpy as np

from factloop.evaluation.debiasing.estimates import (
    FEWEST_OF_A_CLASS,
    NO_VARIANCE,
    fewest_of_a_class,
    share_interval,
    t_quantile,
    unseen_variance,
    wilson,
    with_interval,
)
from factloop.evaluation.debiasing.records import Caution, Estimate, Method
from factloop.evaluation.debiasing.samples import Floats, Samples

METHOD = Method.DIFFERENCE


def precision(samples: Samples, level: float) -> Estimate | None:
    """Returns the fraction in [0, 1] of the run's scored claims that annotators would label supported. Returns None if
    no claims of the run are labelled or scored."""
    own = _own_labels(samples)
    n_labels, n_claims = len(own.label), float(own.scored.sum())
    if not n_labels or not n_claims:
        return None
    open_share = _open_share(own)
    weight = _weight(own, open_share)
    value = weight * float(own.supported.sum() / n_claims) + own.labelled_mean(own.label - weight * own.verdict)
    least = float(own.label.sum())
    most = n_claims - n_labels + least
    value = min(max(value, least / n_claims), most / n_claims)
    if n_labels >= n_claims:
        return with_interval(METHOD, value, (value, value), own, level, weight=weight, is_census=True)
    n_draws = own.n_label_groups if own.label_chance is None else n_labels
    if n_draws < 2:
        return with_interval(METHOD, value, None, own, level, weight=weight)
    moves = _moves(own, own.label - weight * own.verdict, open_share)
    quantile = t_quantile(n_draws, level, moves if own.is_evenly_drawn else None)
    low, high = share_interval(value, _variance(own, moves, open_share), quantile)
    cautions = set()
    if fewest_of_a_class(METHOD, own) < FEWEST_OF_A_CLASS:
        share, variance = own.labelled_mean(own.label), _variance(own, _moves(own, own.label, open_share), open_share)
        n = share * (1.0 - share) / variance if 0.0 < share < 1.0 else n_draws / float(open_share.mean())
        ends = wilson(share, n, quantile)
        low, high, cautions = min(low, ends[0]), max(high, ends[1]), {Caution.WIDENED}
    n_low, n_high, n_right = (round(one * n_claims, 9) for one in (low, high, value))
    low, high = max(min(ceil(n_low), ceil(n_right) - 1), least), min(max(floor(n_high), floor(n_right) + 1), most)
    return with_interval(METHOD, value, (low / n_claims, high / n_claims), own, level, weight=weight, cautions=cautions)


def _own_labels(samples: Samples) -> Samples:
    chance = samples.label_chance
    weight = samples.label_weight[samples.is_own]
    return replace(
        samples,
        label=samples.label[samples.is_own],
        verdict=samples.verdict[samples.is_own],
        label_weight=weight / weight.mean() if len(weight) else weight,
        label_group=samples.label_group[samples.is_own],
        label_response=samples.label_response[samples.is_own],
        label_chance=None if chance is None else chance[samples.is_own],
        is_own=samples.is_own[samples.is_own],
    )


def _open_share(own: Samples) -> Floats:
    """Returns 1 - p for each labelled claim. All claims have the same p if only their number is known.

    If the labelled claims represent fewer claims than the run has, annotators disagreed on some or gave no label. The
    probability of each remaining claim is then reduced accordingly.
    """
    chance = np.ones(len(own.label)) if own.label_chance is None else own.label_chance
    stand_for, n_claims = float((1.0 / chance).sum()), float(own.scored.sum())
    return 1.0 - chance * min(1.0, stand_for / n_claims)


def _weight(own: Samples, open_share: Floats) -> float:
    """Returns the lambda in [0, 1] that minimizes the variance, assuming that claims were drawn individually."""
    weight = open_share * own.label_weight**2
    verdict = own.verdict - own.labelled_mean(own.verdict)
    square = float((weight * verdict**2).sum())
    together = float((weight * verdict * (own.label - own.labelled_mean(own.label))).sum())
    return float(np.clip(together / square, 0.0, 1.0)) if square > NO_VARIANCE * weight.sum() else 0.0


def _moves(own: Samples, values: Floats, open_share: Floats) -> Floats:
    moves = np.sqrt(open_share) * own.label_weight * (values - own.labelled_mean(values)) / own.label_weight.sum()
    if own.label_chance is None:
        moves = np.bincount(own.label_group, moves)[np.unique(own.label_group)]
    return np.asarray(moves * np.sqrt(len(moves) / (len(moves) - 1)))


def _variance(own: Samples, moves: Floats, open_share: Floats) -> float:
    return float((moves**2).sum()) + unseen_variance(own, open_share)
