"""Prediction-powered inference for a share (PPI++: Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453, section 2).

`lambda * mean(run verdicts) + mean(label - lambda * verdict)` over the labelled claims: the labels are right and few,
the verdicts many and biased, and the bias is measured where both are known. With lambda 0 the verdicts are not used;
the best lambda leaves the least variance. It holds, whatever the evaluator, where the labelled claims are a random
sample of claims like those of the run. Where some were likelier to be drawn than others, each counts for the inverse of
its probability (Horvitz and Thompson 1952; Zrnic and Candes 2024 for labels chosen by a model), which keeps that so.

It estimates the share among the claims of such prompts; those of the run are a draw of them. Where labelled claims are
the run's own, the two samples are no longer independent: a prompt in both adds up its influence on both before it is
squared, so that the covariance counts.

Independent claims go to `ppi-python`. It knows no groups; claims of one response have theirs, so for them the variance
and the best lambda are taken from the influence of each group here, which with groups of one is the same but for terms
of the order 1 / n.

The interval is Wilson's for that variance (`estimates.share_interval`), with Student's t for as many groups as make up
most of it (`estimates.t_quantile`). Labels drawn unevenly have few heavy ones among them: there the variance counts
half an error more than was seen. Where few responses hold a label of the rarer class, or labels show no error of the
evaluator, that is not enough, as a sample without an error shows no spread: the interval is widened to hold Wilson's of
the labels alone.
"""

from __future__ import annotations

import warnings
from statistics import NormalDist
from typing import Any

import numpy as np

from factloop.core.extras import require
from factloop.core.figure import Undefined
from factloop.evaluation.debiasing.estimates import (
    FEWEST_OF_A_CLASS,
    NO_VARIANCE,
    covariance,
    fewest_of_a_class,
    labelled_influence,
    run_rate_influence,
    share_interval,
    smallest_sample,
    t_quantile,
    undefined,
    unseen_variance,
    wilson,
    with_interval,
)
from factloop.evaluation.debiasing.records import Caution, Estimate, Method
from factloop.evaluation.debiasing.samples import Floats, Samples

METHOD = Method.PREDICTION_POWERED
FEWEST_ALIKE = 100
"""Labels that are all as the verdicts with which an interval stands: of 100 up to three may be otherwise."""


def precision(samples: Samples, level: float) -> Estimate:
    """The share of supported claims in [0, 1]; undefined where a sample is empty."""
    if not samples.scored.sum():
        return undefined(METHOD, Undefined.NOTHING_SCORED, samples, level)
    if not len(samples.label):
        return undefined(METHOD, Undefined.NO_LABELS, samples, level)
    is_plain = (
        samples.are_independent and samples.is_evenly_drawn and min(samples.n_label_groups, samples.n_run_groups) > 1
    )
    if is_plain:
        return _independent_precision(samples, level)
    gain = run_rate_influence(samples) - labelled_influence(samples.verdict, samples)
    return powered(_labels_alone(samples), (_value(samples, 1.0) - _value(samples, 0.0), gain), samples, level)


Moved = tuple[float, Floats]
"""A value, and the influence of each group on it, (n_groups,)."""


def powered(labels: Moved, gain: Moved, samples: Samples, level: float) -> Estimate:
    """`labels + lambda * gain` for the lambda in [0, 1] that leaves the least variance.

    `labels`: the figure by the labels alone; `gain`: the run's figure by verdicts, less that of the labelled claims.
    """
    (value, moves), (more, more_moves) = labels, gain
    square, together = covariance(more_moves, more_moves), covariance(moves, more_moves)
    weight = float(np.clip(-together / square, 0.0, 1.0)) if square > NO_VARIANCE else 0.0
    value, moves, groups = value + weight * more, moves + weight * more_moves, smallest_sample(METHOD, samples)
    if groups < 2:
        return with_interval(METHOD, value, None, samples, level, weight=weight)
    variance, quantile = covariance(moves, moves), t_quantile(groups, level, moves)
    if not samples.is_evenly_drawn:
        variance, quantile = variance + unseen_variance(samples), t_quantile(groups, level)
    return _widened(value, share_interval(value, variance, quantile), labels, samples, level, weight)


def _labels_alone(samples: Samples) -> Moved:
    return _value(samples, 0.0), labelled_influence(samples.label, samples)


def _value(samples: Samples, weight: float) -> float:
    rate = samples.supported.sum() / samples.scored.sum()
    return weight * float(rate) + samples.labelled_mean(samples.label - weight * samples.verdict)


def _independent_precision(samples: Samples, level: float) -> Estimate:
    ppi = _library()
    verdicts = samples.supported[samples.scored > 0]
    known = (samples.label, samples.verdict, verdicts)
    is_constant = np.ptp(np.concatenate(known[1:])) == 0.0  # the best lambda would be 0 / 0
    fixed = {"lam": 0.0} if is_constant else {}
    value = float(np.squeeze(ppi.ppi_mean_pointestimate(*known, **fixed)))
    low, high = (float(np.squeeze(end)) for end in ppi.ppi_mean_ci(*known, alpha=1.0 - level, **fixed))
    quantile = NormalDist().inv_cdf((1.0 + level) / 2.0)
    interval = share_interval(value, ((high - low) / (2.0 * quantile)) ** 2, quantile)
    return _widened(value, interval, _labels_alone(samples), samples, level, _weight(samples, value))


def _weight(samples: Samples, value: float) -> float | None:
    """The lambda behind a value, which the library keeps to itself: values lie on a line in it."""
    without, full = _value(samples, 0.0), _value(samples, 1.0)
    return float(np.clip((value - without) / (full - without), 0.0, 1.0)) if abs(full - without) > 1e-9 else None


def _widened(
    value: float, interval: tuple[float, float], labels: Moved, samples: Samples, level: float, weight: float | None
) -> Estimate:
    """The estimate, with an interval that holds Wilson's of the labels alone where a class is rare, or no error seen.

    Claims of one group count for less: for as many independent ones as would have the same variance, or for as many as
    there are groups where the labels have none.
    """
    hides_errors = len(samples.label) < FEWEST_ALIKE and samples.shows_no_error
    if fewest_of_a_class(METHOD, samples) >= FEWEST_OF_A_CLASS and not hides_errors:
        return with_interval(METHOD, value, interval, samples, level, weight=weight)
    share, moves = labels
    variance = covariance(moves, moves)
    has_spread = variance > NO_VARIANCE
    n = min(share * (1.0 - share) / variance, len(samples.label)) if has_spread else samples.n_label_groups
    is_even = has_spread and samples.is_evenly_drawn
    low, high = wilson(share, n, t_quantile(samples.n_label_groups, level, moves if is_even else None))
    wide = min(low, interval[0]), max(high, interval[1])
    return with_interval(METHOD, value, wide, samples, level, weight=weight, cautions={Caution.WIDENED})


def _library() -> Any:
    """Imports ppi-python, and undoes what that does: it silences every warning of the process."""
    require("debiasing", "correcting a share of claims without the response of each")
    with warnings.catch_warnings():
        import ppi_py  # type: ignore[import-untyped]  # has no type hints
    return ppi_py
