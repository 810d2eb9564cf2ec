"""Precision of a run, raw and corrected by labelled claims, with intervals that carry both samples' uncertainty."""

from __future__ import annotations

import numpy as np

from factloop.core.figure import Undefined
from factloop.evaluation.debiasing import adjusted_count, own_claims, prediction_powered
from factloop.evaluation.debiasing.estimates import (
    NO_VARIANCE,
    covariance,
    labelled_influence,
    raw_share,
    run_rate_influence,
    t_quantile,
    undefined,
    wilson,
)
from factloop.evaluation.debiasing.records import LEVEL, DebiasedPrecision, Estimate, EvaluatorRates, Method, Transfer
from factloop.evaluation.debiasing.samples import (
    Floats,
    JudgedResponses,
    LabelledClaims,
    Samples,
    as_samples,
    by_scores,
)

Interval = tuple[float | None, float | None]


def evaluator_rates(samples: Samples, level: float) -> EvaluatorRates:
    """TPR and FPR on the labelled claims, by their weights.

    The intervals are Wilson's (1927) for as many claims as would have the variance of the rate (Korn and Graubard
    1998), by Student's t for the groups. Where the rate is 0 or 1 there is no variance, and as many count as groups.
    """
    n_right, n_wrong = int((samples.label == 1).sum()), int((samples.label == 0).sum())
    tpr, (tpr_low, tpr_high) = _rate(samples, samples.label, level) if n_right else (None, (None, None))
    fpr, (fpr_low, fpr_high) = _rate(samples, 1.0 - samples.label, level) if n_wrong else (None, (None, None))
    return EvaluatorRates(
        tpr=tpr,
        tpr_low=tpr_low,
        tpr_high=tpr_high,
        fpr=fpr,
        fpr_low=fpr_low,
        fpr_high=fpr_high,
        level=level,
        n_supported=n_right,
        n_not_supported=n_wrong,
        n_unscored=samples.n_unscored_labels,
    )


def _rate(samples: Samples, among: Floats, level: float) -> tuple[float, Interval]:
    rate = min(1.0, samples.labelled_mean(samples.verdict, among))
    n_groups = len(np.unique(samples.label_group[among > 0]))
    if n_groups < 2:
        return rate, (None, None)
    moves = labelled_influence(samples.verdict, samples, among)
    variance = covariance(moves, moves)
    n = rate * (1.0 - rate) / variance if variance > NO_VARIANCE else float(n_groups)
    low, high = wilson(rate, n, t_quantile(n_groups, level))
    return rate, (max(0.0, low), min(1.0, high))


def debiased_precision(
    labelled: LabelledClaims,
    run: JudgedResponses,
    *,
    level: float = LEVEL,
    transfer: Transfer = Transfer.VERDICTS,
    is_sampled: bool = True,
) -> DebiasedPrecision:
    """Supported over scored claims: as the evaluator has it, and corrected in two ways.

    All three speak of the claims of such prompts (`Target`). Where labelled claims are the run's own, `own_claims` has
    the precision of this run beside them, which is known better. The two corrections rest on different assumptions
    (`Method`), and are far apart where one of them fails. Precision is taken over all claims together, so that long
    responses weigh more; responses and prompts are what is drawn. `transfer` says which assumption is preferred. The
    prediction-powered estimate is withheld where the labelled claims are no sample
    of the run's and are not said to be alike: it would be their precision for the most part, and not that of the run.
    Where the evaluator gives scores, they stand in the place of verdicts if they leave the narrower interval: both
    hold whatever the evaluator, and a score tells the claims that it is sure of from the others. Whether labels show an
    error is a matter of verdicts either way.

    Raises ConfigError where no claims are grouped and the extra `debiasing` is not installed.
    """
    samples = as_samples(labelled, run)
    scored = by_scores(samples, labelled, run)
    powered = prediction_powered.precision(samples, level)
    if scored is not None:
        powered = _narrower(powered, prediction_powered.precision(scored, level))
    if powered.value is not None and not is_sampled and transfer is not Transfer.VERDICTS:
        powered = undefined(Method.PREDICTION_POWERED, Undefined.NOT_SAMPLED, samples, level)
    adjusted = adjusted_count.precision(samples, level)
    own = own_claims.precision(samples, level)
    if scored is not None and own is not None:
        own = _narrower(own, own_claims.precision(scored, level))
    preferred = powered if transfer is Transfer.VERDICTS else adjusted
    return DebiasedPrecision(
        raw=raw_precision(samples, level),
        prediction_powered=powered,
        adjusted_count=adjusted,
        own_claims=own,
        preferred=None if preferred.value is None else preferred.method,
        evaluator=evaluator_rates(samples, level),
        n_run_unscored=samples.n_unscored_run,
    )


def _narrower(by_verdicts: Estimate, by_scores: Estimate | None) -> Estimate:
    if by_scores is None or by_verdicts.interval is None or by_scores.interval is None:
        return by_verdicts
    (low, high), (other_low, other_high) = by_verdicts.interval, by_scores.interval
    if other_high - other_low < high - low:
        return by_scores.model_copy(update={"uses_scores": True})
    return by_verdicts


def raw_precision(samples: Samples, level: float = LEVEL) -> Estimate:
    """The evaluator's own share, with an interval that takes its verdicts for the truth, as reports usually give it."""
    if not samples.scored.sum():
        return undefined(Method.RAW, Undefined.NOTHING_SCORED, samples, level)
    value = float(samples.supported.sum() / samples.scored.sum())
    return raw_share(value, run_rate_influence(samples), samples, level)
