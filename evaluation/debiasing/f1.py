"""F1@K of a run, raw and corrected by labelled claims, with a bootstrap over both samples.

The evaluator's verdicts give each response s supported of n claims. Which of them truly are is known only on average:
the labelled claims tell how often a claim of either verdict is. The corrected figure is the F1@K to expect then,
averaged over the responses. F1@K is no mean over claims, so prediction-powered inference over claims does not fit it.

A resample draws groups of labelled claims and groups of responses, with replacement; groups that are in both samples
are drawn once for both. The interval is that between percentiles, expanded for few groups. Where few labels of a
verdict are all alike, every resample has the same share of errors, which is no certainty: then there is no interval.

Where responses differ much in precision and hold more claims than K, the true counts vary more than claims that are
independent given their verdicts, and the corrected figure comes out slightly high: `benchmarks.correction_coverage`.

Departure from the paper (Wei et al. 2024, section 5), which takes the evaluator's verdicts for the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from factloop.core.figure import Undefined
from factloop.evaluation.debiasing import adjusted_count
from factloop.evaluation.debiasing.estimates import smallest_sample, undefined, with_interval
from factloop.evaluation.debiasing.expected_f1 import ExpectedF1
from factloop.evaluation.debiasing.records import LEVEL, Abstentions, Caution, DebiasedF1, Estimate, Method, Transfer
from factloop.evaluation.debiasing.resampling import Draws, draw, expanded_tail
from factloop.evaluation.debiasing.samples import Floats, JudgedResponses, LabelledClaims, Samples, as_samples
from factloop.evaluation.statistics.bootstrap import loses_too_many, percentiles

RESAMPLES = 1000
FEWEST_ALIKE = 100
"""Labels that are all alike with which the resamples stand: up to 3 in 100 claims may be otherwise (rule of three)."""


def debiased_f1(
    labelled: LabelledClaims,
    run: JudgedResponses,
    ks: Sequence[int],
    rng: np.random.Generator,
    *,
    abstentions: Abstentions = "zero",
    transfer: Transfer = Transfer.VERDICTS,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[DebiasedF1, ...]:
    """Mean F1@K over the responses for each K, with intervals; all K rest on the same resamples.

    `transfer` says what of the labelled claims holds for the run. Raises ValueError for a K below 1.
    """
    if any(k < 1 for k in ks):
        raise ValueError("K is a whole number from 1")
    samples = as_samples(labelled, run)
    draws = draw(samples, resamples, rng)
    return tuple(_at(k, samples, draws, abstentions, transfer, level) for k in ks)


def _at(
    k: int, samples: Samples, draws: Draws, abstentions: Abstentions, transfer: Transfer, level: float
) -> DebiasedF1:
    counted = samples.scored > 0 if abstentions == "exclude" else ~samples.failed
    f1 = ExpectedF1(samples.supported, samples.scored - samples.supported, k)
    weights = draws.responses * counted
    certain = f1.at(np.ones(1), np.zeros(1))
    raw = _mean(weights, np.broadcast_to(certain, weights.shape))
    corrected = _mean(weights, f1.at(*_shares(samples, draws, transfer)))
    nothing = None if samples.scored.sum() else Undefined.NOTHING_SCORED
    alike = {Caution.LABELS_ALIKE} if _hides_errors(samples, transfer) else set()
    why = _why_undefined(samples, transfer, level)
    return DebiasedF1(
        k=k,
        raw=_estimate(Method.RAW, raw, nothing, samples, level),
        corrected=_estimate(Method.BOOTSTRAP, corrected, why, samples, level, alike),
        transfer=transfer,
        abstentions=abstentions,
        n_responses=int(counted.sum()),
        n_abstentions=int(((samples.scored == 0) & ~samples.failed).sum()),
        n_failed=int(samples.failed.sum()),
        n_resamples=len(corrected) - 1,
        n_resamples_undefined=int(np.isnan(corrected[1:]).sum()),
    )


def _mean(weights: Floats, values: Floats) -> Floats:
    """The weighted mean of each row; NaN where nothing was drawn that counts, or a value is not known."""
    with np.errstate(invalid="ignore"):
        return np.asarray((weights * values).sum(axis=1) / weights.sum(axis=1))


def _shares(samples: Samples, draws: Draws, transfer: Transfer) -> tuple[Floats, Floats]:
    """The shares truly supported of claims called supported, and of claims not called so; (1 + n_resamples,) each."""
    hit, false_alarm, miss, rejected = draws.cells.T
    with np.errstate(invalid="ignore", divide="ignore"):
        if transfer is Transfer.VERDICTS:
            return _zero_if_unneeded(samples, hit / (hit + false_alarm), miss / (miss + rejected))
        tpr, fpr = hit / (hit + miss), false_alarm / (false_alarm + rejected)
        rate = (draws.responses @ samples.supported) / (draws.responses @ samples.scored)
        truth = np.where(tpr > fpr, np.clip((rate - fpr) / (tpr - fpr), 0.0, 1.0), np.nan)
        called = truth * tpr + (1.0 - truth) * fpr
        return _zero_if_unneeded(samples, truth * tpr / called, truth * (1.0 - tpr) / (1.0 - called))


def _zero_if_unneeded(samples: Samples, if_supported: Floats, if_not: Floats) -> tuple[Floats, Floats]:
    """The shares, with 0 in place of one that no claim of the run needs: unknown times nothing is nothing."""
    needs = samples.supported.sum() > 0, (samples.scored - samples.supported).sum() > 0
    known = [
        share if needed else np.zeros_like(share) for share, needed in zip((if_supported, if_not), needs, strict=True)
    ]
    return known[0], known[1]


def _hides_errors(samples: Samples, transfer: Transfer) -> bool:
    """Whether a share that the correction rests on is 0 or 1 of few labels, and so the same in every resample.

    By verdicts it is the share truly supported among claims of a verdict that the run has, by error rates the share
    called supported among claims of either label.
    """
    of, shared = (samples.verdict, samples.label) if transfer is Transfer.VERDICTS else (samples.label, samples.verdict)
    needed = (samples.scored - samples.supported).sum(), samples.supported.sum()
    groups = [shared[of == kind] for kind in (0, 1) if transfer is Transfer.ERROR_RATES or needed[kind]]
    return any(0 < len(group) < FEWEST_ALIKE and len(np.unique(group)) == 1 for group in groups)


def _why_undefined(samples: Samples, transfer: Transfer, level: float) -> Undefined | None:
    if not samples.scored.sum():
        return Undefined.NOTHING_SCORED
    if not len(samples.label):
        return Undefined.NO_LABELS
    if transfer is Transfer.ERROR_RATES:
        return adjusted_count.precision(samples, level).undefined
    needs = set(np.flatnonzero([(samples.scored - samples.supported).sum(), samples.supported.sum()]))
    return None if needs <= {*samples.verdict} else Undefined.VERDICT_MISSING


def _estimate(
    method: Method,
    values: Floats,
    why: Undefined | None,
    samples: Samples,
    level: float,
    cautions: AbstractSet[Caution] = frozenset(),
) -> Estimate:
    """An estimate from `values`: that of the sample, then of its resamples, NaN where undefined."""
    if why is not None:
        return undefined(method, why, samples, level)
    groups, n_resamples = smallest_sample(method, samples), len(values) - 1
    low, high, n_lost = percentiles(values[1:, None], expanded_tail(groups, level) if groups > 1 else 0.0)
    is_drawn = n_lost[0] < n_resamples and groups > 1
    ends = (float(low[0]), float(high[0])) if is_drawn else None
    lost = {Caution.RESAMPLES_LOST} if loses_too_many(values[1:]) else set()
    return with_interval(method, float(values[0]), ends, samples, level, cautions=cautions | lost)
