"""Estimates a proportion by prediction-powered inference (PPI++: Angelopoulos, Duchi and Zrnic 2023, section 2).

The estimate is `lambda * mean(run verdicts) + mean(label - lambda * verdict)`, where the second mean is over the
labelled claims (arXiv 2311.01453). Labels are correct, but there are few of them. Verdicts are biased, but there are
many of them. The claims that have both show the bias. The best lambda minimizes the variance. A lambda of 0 ignores the
verdicts. The estimate is valid for any evaluator if the labelled claims are a random sample of claims like those of the
run. Claims drawn with different probabilities are weighted by the inverse of their probability (Horvitz and Thompson
1952; Zrnic and Candes 2024 for labels chosen by a model).

The estimate describes all claims on prompts like the run's, of which the run's claims are a sample. If the labelled
claims come from the run itself, the two samples are not independent. The influences of a prompt on both are therefore
added before they are squared.

Independent claims are handled by `ppi-python`, which does not support groups. For claims in groups, this module
computes the variance and the best lambda from the influence of each group. With one claim per group, the results agree
except for terms of order 1 / n.

The interval is Wilson's for that variance (`estimates.share_interval`), with Student's t for the number of groups that
make up most of it (`estimates.t_quantile`). For unevenly drawn labels, a few of which have large weights, the variance
includes half an error more than was observed. Even this is not enough if few responses have a label of the rarer class
or if the labels show no errors. The interval is then widened to include Wilson's interval for the labels alone.
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
"""With at least this many labels, the interval is not widened even if all of them match the verdicts."""


def precision(samples: Samples, level: float) -> Estimate:
    """Returns the fraction of supported claims in [0, 1]. The result is undefined if either sample is empty."""
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
"""A value, with the influence of each group on it (n_groups,)."""


def powered(labels: Moved, gain: Moved, samples: Samples, level: float) -> Estimate:
    """Returns `labels + lambda * gain`, with the lambda in [0, 1] that minimizes the variance. `labels` is the estimate
    from the labels alone. `gain` is the difference in verdicts between the run and the labelled claims."""
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
    """Derives lambda from the value, which is linear in lambda, because the library does not return it."""
    without, full = _value(samples, 0.0), _value(samples, 1.0)
    return float(np.clip((value - without) / (full - without), 0.0, 1.0)) if abs(full - without) > 1e-9 else None


def _widened(
    value: float, interval: tuple[float, float], labels: Moved, samples: Samples, level: float, weight: float | None
) -> Estimate:
    """If a class is rare or no error was seen, widens the interval to include Wilson's interval for the labels.

    The number of cases is the number of independent claims that would give the same variance. If all labels are the
    same, the number of groups is used instead.
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
    """Imports ppi-python without letting it silence all warnings in the process."""
    require("debiasing", "correcting a share of claims without response_id")
    with warnings.catch_warnings():
        import ppi_py  # type: ignore[import-untyped]  # has no type hints
    return ppi_py
