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
    """Returns the weighted TPR and FPR on the labelled claims.

    The intervals are Wilson's (1927), with Student's t for the number of groups. The number of cases is the number of
    independent ones that would give the same variance (Korn and Graubard 1998). A rate of 0 or 1 has no variance, so
    its interval uses the number of groups instead.
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
    """Returns supported claims as a fraction of scored claims, both raw and corrected in two ways.

    All three estimates describe claims on prompts like the run's (`Target`). If labelled claims are from the run
    itself, `own_claims` is the precision of this particular run, which is less uncertain. The two corrections make
    different assumptions (`Method`), and differ widely if one fails. `transfer` determines which is preferred.

    Precision is computed over all claims together, so long responses have more weight. Responses and prompts are the
    sampling units. The prediction-powered estimate is withheld if the labelled claims are neither a sample of the run's
    claims nor declared to be like them, because it would mostly reflect the precision of the labelled claims. Scores
    replace verdicts if this narrows the interval. Both are valid for any evaluator, but verdicts always determine
    whether the labels show an error.

    Raises ConfigError if claims are not grouped and the `debiasing` extra is not installed.
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
    """Returns the fraction of scored claims that are judged supported, taking verdicts as the truth."""
    if not samples.scored.sum():
        return undefined(Method.RAW, Undefined.NOTHING_SCORED, samples, level)
    value = float(samples.supported.sum() / samples.scored.sum())
    return raw_share(value, run_rate_influence(samples), samples, level)
